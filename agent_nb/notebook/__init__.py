"""The notebook: magics, the live trace, approval. The only place that knows IPython."""
