"""Text → tokens, for memories and questions in English, Chinese and both at once; other scripts word by word."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from .numerals import WORDS, as_digits

TOKENS_VERSION = 2
"""Grows whenever `tokens` gives other terms for a text: stored terms of an older version are made anew."""

_HAN = r"\u3005\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = r"\u3041-\u30fa\u30fc-\u30ff"
_HANGUL = r"\uac00-\ud7a3"
_WORD = re.compile(
    rf"\d+(?:\.\d+)+|[A-Za-z0-9]+(?:'[A-Za-z]+)?|[{_HAN}]+|[\u3041-\u309f]+|[\u30a0-\u30ff]+|[{_HANGUL}]+"
    rf"|[^\W\d_A-Za-z{_HAN}{_KANA}{_HANGUL}]+|\d+"
)
_IS_HAN = re.compile(f"[{_HAN}]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])")  # a code like 9E stays whole
# A short first part is no word of its own: e-mail, re-order, pre-paid, T-shirt.
_PREFIX = re.compile(r"\b((?:[A-Za-z]|[Rr]e|[Cc]o|[Pp]re|[Nn]on|[Uu]n|[Aa]nti|[Mm]ulti|[Ss]ub)[-\u2010\u2011])(?=[A-Za-z]{3})")
_STOP = frozenset(
    """a an the of in on at to for from by with about into over under and or but if then than as is are was were be
    been being am do does did done have has had having will would can could should shall may might must i me my
    mine we us our you your he him his she her it its they them their this that these those there here what which
    who whom whose when where why how any some please tell show give remember know let s t don doesn didn isn aren
    wasn weren won wouldn shouldn couldn ll re ve d m""".split()
)
_IRREGULAR = dict(
    pair.split(":")
    for pair in """children:child men:man women:woman people:person mice:mouse feet:foot teeth:tooth geese:goose
    lives:life wives:wife knives:knife leaves:leaf wolves:wolf shelves:shelf criteria:criterion analyses:analysis
    indices:index went:go gone:go bought:buy took:take taken:take ate:eat eaten:eat met:meet ran:run wrote:write
    written:write told:tell said:say paid:pay sold:sell spent:spend gave:give given:give got:get gotten:get made:make
    came:come began:begin begun:begin broke:break broken:break chose:choose chosen:choose drove:drive driven:drive
    fell:fall fallen:fall felt:feel flew:fly flown:fly found:find forgot:forget forgotten:forget grew:grow grown:grow
    kept:keep knew:know known:know lost:lose sang:sing slept:sleep spoke:speak spoken:speak stood:stand swam:swim
    taught:teach thought:think threw:throw thrown:throw wore:wear worn:wear sent:send built:build held:hold led:lead
    heard:hear caught:catch brought:bring drank:drink drunk:drink saw:see seen:see left:leave lent:lend rode:ride
    ridden:ride rose:rise risen:rise hid:hide hidden:hide sought:seek sat:sit drew:draw drawn:draw dealt:deal
    meant:mean understood:understand became:become won't:not""".split()
)

# Chinese has no blanks. Question phrases and particles separate what stands around them, except inside of words …
_CUT = (
    "什么时候|为什么|怎么样|什么|怎么|怎样|如何|哪些|哪个|哪里|哪儿|哪|多少|几个|是否|有没有|请问|告诉|记住|记得|一下|"
    "我们|你们|他们|她们|它们|这个|那个|这些|那些|的|了|吗|呢|吧|啊|嘛|是"
)
_WHOLE = (
    "目的地|目的|的士|的确|标的|了解|为了|了结|明了|酒吧|吧台|网吧|是非|于是|吗啡|呢子|但是|还是|要是|哪吒|"
    "记得住|如何是好|甚是|国是"
)
_SPLIT = re.compile(f"(?:{_WHOLE})|(?P<cut>{_CUT})")
# … and these are words of their own as well as parts of others: what they stand in counts less, and only where a
# memory holds it, unless it is one of the words below.
_FAINT = frozenset("我你您他她它在和与或及这那个都也就把被让给对算指为有会能要应该按用请的了吗呢吧啊嘛是么几")
_WORDS = frozenset(
    """会员 会议 会计 会话 机会 社会 开会 大会 协会 学会 约会 宴会 工会 例会 周会 年会 晚会 聚会 会面 会见 会场 会费 会长 事会
    有效 有限 有机 有关 有害 有趣 有用 拥有 所有 共有 私有 持有 含有 享有 国有 没有 有空 现有 原有 占有 有利 有序 特有
    用户 用途 用量 用药 用餐 费用 使用 应用 信用 作用 利用 采用 启用 停用 禁用 常用 通用 专用 公用 商用 家用 雇用 租用 用法
    用品 用水 用电 用例 可用 备用 复用 调用 引用 适用 效用 用车 用料 用工 和平 和谐 总和 饱和 温和 和解 和服 和睦 柔和 缓和
    共和 之和 在线 在职 在途 在读 在校 在内 在场 存在 实在 现在 内在 潜在 所在 外在 在岗 在库 正在 指标 指数 指令 指南 指定
    指导 指示 指纹 指挥 指针 手指 戒指 指派 应收 应付 应急 应对 应聘 应届 应税 应缴 供应 反应 响应 效应 适应 对应 答应 感应
    相应 应答 应激 能量 能源 能力 能耗 能效 功能 性能 智能 技能 节能 职能 可能 核能 动能 产能 效能 才能 体能 阳能 要求 重要
    主要 需要 必要 摘要 要点 纪要 要素 概要 首要 想要 要价 对账 对比 对象 对接 对手 对话 对方 核对 比对 绝对 相对 针对 面对
    反对 校对 对策 对标 对冲 派对 给付 供给 补给 给予 行为 作为 成为 认为 因为 为止 为期 视为 人为 把握 把手 把关 被子 棉被
    被告 被动 植被 转让 让利 出让 让步 算法 计算 结算 预算 核算 清算 运算 决算 测算 折算 估算 换算 算力 打算 首都 成都 都市
    京都 就业 就诊 就职 成就 就医 就餐 按钮 按时 按期 按月 按年 按揭 按摩 按键 参与 与会 或者 及时 及格 普及 涉及 以及 埃及
    个人 个性 个体 个数 个税 整个 个别 自我 其他 吉他 他人 请假 申请 邀请 聘请 请求 请客 请示 目的 的士 的确 标的 了解 为了
    酒吧 网吧 几何 茶几 几内""".split()
)
_KANA_STOP = frozenset(
    "は が を に で の と も へ や か から まで より です ます でした ました ですか ますか した して する いる ある この その".split()
)
_JOSA = re.compile(r"(?<=[\uac00-\ud7a3]{2})(?:에서|으로|까지|부터|에게|을|를|이|가|은|는|에|의|도|로|와|과)$")
# Traditional characters that differ, each with the simplified one: the common ones of business and daily life.
_TRADITIONAL, _SIMPLIFIED = (
    "個這們來時說對會開發長問題國學點見關機實現產業務員電話資訊號碼單價訂貨買賣錢帳戶銀費計劃經過還應該進運營數據報"
    "請讓給認識記憶區域東車輛飛處辦體醫藥書寫讀語課師習級總統計額約規則條歷歲從後愛歡樂聽聲熱氣風雲雞魚麵飲館廳門間",
    "个这们来时说对会开发长问题国学点见关机实现产业务员电话资讯号码单价订货买卖钱帐户银费计划经过还应该进运营数据报"
    "请让给认识记忆区域东车辆飞处办体医药书写读语课师习级总统计额约规则条历岁从后爱欢乐听声热气风云鸡鱼面饮馆厅门间",
)
_SIMPLER = str.maketrans(_TRADITIONAL, _SIMPLIFIED) | str.maketrans(
    {"’": "'", "ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i"}
)


def tokens(text: str) -> list[str]:
    """The terms of a text, in order: stemmed words, character bigrams of Chinese, numbers as digits.

    Identifiers are split (`dep_delay`, `depDelay` → dep, delay), full-width forms, accents and traditional
    characters are made plain; question words and particles are dropped.
    """
    found: list[str] = []
    for word in _WORD.findall(_plain(text)):
        if _IS_HAN.match(word):
            found += _bigrams(word)
        elif word.isascii():
            lower = word.lower().split("'")[0]
            if lower not in _STOP:
                found.append(_stem(lower))
        elif word not in _KANA_STOP:
            found.append(_foreign(word))
    return found


def faint(term: str) -> bool:
    """Whether a bigram holds a character that is mostly grammar (有, 在, 用 …), and is no word that is known."""
    return len(term) == 2 and term not in _WORDS and not _FAINT.isdisjoint(term)


def _plain(text: str) -> str:
    """The text in one spelling: widths, accents, apostrophes, numerals, hyphens, humps."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
        text = re.sub(r"(?<=[A-Za-z])[\u0300-\u036f]+", "", unicodedata.normalize("NFD", text))
        text = unicodedata.normalize("NFC", text).translate(_SIMPLER)
    text = _PREFIX.sub(lambda found: found[1][:-1], as_digits(text))
    return _CAMEL.sub(" ", text.replace("_", " "))


def _bigrams(run: str) -> list[str]:
    """Character bigrams of a Chinese run, which question phrases and particles interrupt; a lone character is one."""
    parts, start = [], 0
    for mark in _SPLIT.finditer(run):
        if mark["cut"]:
            parts.append(run[start : mark.start()])
            start = mark.end()
    parts.append(run[start:])
    found = []
    for part in parts:
        pairs = [part[i : i + 2] for i in range(len(part) - 1)] or [part] * (part not in _FAINT)
        # Two grammatical characters in a row (我在, 都有) say nothing.
        found += [pair for pair in pairs if pair and (pair in _WORDS or not _FAINT.issuperset(pair))]
    return found


@functools.lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    if word.isdigit():
        return word.lstrip("0") or "0" if len(word) == 2 else word  # 05 is 5; 007 is a name
    word = _IRREGULAR.get(word) or WORDS.get(word) or word
    return str(_stemmer("english").stemWord(word)) if word.isalpha() else word


@functools.lru_cache(maxsize=50_000)
def _foreign(word: str) -> str:
    """A word of another script without its ending, where that is known."""
    lower = word.lower()
    if "\u0400" <= lower[0] <= "\u04ff":
        return str(_stemmer("russian").stemWord(lower)) or lower
    if "\u0621" <= lower[0] <= "\u06d3":
        return str(_stemmer("arabic").stemWord(lower)) or lower
    return _JOSA.sub("", lower)


@functools.cache
def _stemmer(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(language)


def normal(text: str) -> str:
    """A text as duplicates are compared: case, blanks and closing marks do not count."""
    return " ".join(text.casefold().split()).rstrip(".。!！;；, ，")
