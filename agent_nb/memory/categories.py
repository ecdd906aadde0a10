"""A small table of what is what, for constraints: food and drink, medicines, animals, flowers, clothes.

It is made by hand, English and Chinese, and far from complete: it knows the common foods and drinks, the usual
allergens and in which kinds of dishes they are usual. What it does not know, a user's own sentence adds ("skyr is
a dairy product"). "May contain" is said of whole kitchens, so that an allergy is rather mentioned once too often.

Each line: names < what they are ~ what they may contain. Names of one thing are joined by "/".
"""

from __future__ import annotations

import functools
import re

_TABLE = """
food/食物/食品/吃的/吃点/吃什么/想吃/能吃/该吃/可以吃/好吃/美食
food/dish/菜/道菜/做菜/点菜/meal/餐/饭/正餐/聚餐/dinner/supper/晚饭/晚餐/年夜饭/lunch/午饭/午餐/breakfast/brunch/早饭/早餐
food/snack/零食/小吃/夜宵/点心/recipe/食谱/菜谱/menu/菜单/takeaway/takeout/take-out/外卖/picnic/野餐/cuisine/菜系
food/restaurant/餐厅/餐馆/饭店/馆子/cook/cooking/下厨/做饭/eat/吃/buffet/自助餐
dessert/sweets/something sweet/甜点/甜品/甜食, cake/蛋糕, cookie/biscuit/饼干, ice cream/gelato/冰淇淋/雪糕 < food
dessert ~ milk, egg, wheat, nut
cake, cookie < dessert ~ wheat, egg, milk, nut
ice cream < dessert ~ milk, egg, nut
tiramisu/提拉米苏 < dessert ~ coffee, egg, milk, wheat, alcohol
brownie/布朗尼, croissant/可颂, muffin/玛芬, waffle/华夫饼, pancake/松饼, pastry/糕点 < dessert ~ wheat, egg, milk, nut
mooncake/月饼 < dessert ~ egg, nut, wheat
pudding/布丁, custard/蛋挞, mousse/慕斯, cheesecake/芝士蛋糕 < dessert ~ milk, egg
chocolate/巧克力 < dessert ~ milk, nut, caffeine, soy
thai dish/thai food/thai cuisine/thai restaurant/thai curry/thai/泰国菜/泰式/泰餐 < dish ~ peanut, shellfish, fish
thai dish ~ cilantro, chili
pad thai/泰式炒河粉 < thai dish ~ peanut, egg, shellfish
tom yum/冬阴功 < thai dish ~ shellfish, cilantro, chili
satay/沙爹/沙嗲 < dish ~ peanut, meat
sichuan dish/sichuan food/sichuan/szechuan/川菜/四川菜 < dish ~ chili, peanut, meat
kung pao chicken/宫保鸡丁 < sichuan dish ~ peanut, chicken, chili
mapo tofu/麻婆豆腐 < sichuan dish ~ soy, meat, chili
hot pot/hotpot/火锅 < dish ~ meat, chili, seafood, peanut, sesame
chinese dish/chinese food/中餐/中国菜 < dish ~ soy, wheat, meat
cantonese dish/cantonese food/dim sum/粤菜/早茶 < chinese dish ~ shellfish, meat
japanese dish/japanese food/日本菜/日料/日餐 < dish ~ fish, soy, wheat
sushi/sashimi/寿司/刺身 < japanese dish ~ fish, shellfish, soy
ramen/拉面 < japanese dish ~ wheat, egg, pork, soy
tempura/天妇罗 < japanese dish ~ shellfish, wheat, egg
korean dish/korean food/韩国菜/韩餐/韩料 < dish ~ chili, fish, meat, sesame
indian dish/indian food/印度菜 < dish ~ milk, nut, chili
curry/咖喱 < dish ~ chili, milk, meat
vietnamese dish/vietnamese food/越南菜 < dish ~ peanut, fish, cilantro
pho/越南河粉 < vietnamese dish ~ beef, cilantro
indonesian dish/indonesian food/印尼菜, malaysian dish/malaysian food/马来菜 < dish ~ peanut, shellfish
italian dish/italian food/意大利菜/意餐 < dish ~ wheat, milk
pizza/披萨/比萨, pasta/spaghetti/lasagna/意面/意大利面 < italian dish ~ wheat, milk
french dish/french food/法国菜/法餐 < dish ~ milk, wheat, alcohol
mexican dish/mexican food/taco/burrito/墨西哥菜 < dish ~ chili, cilantro, milk
burger/hamburger/汉堡, sandwich/三明治, kebab/烤肉 < dish ~ meat, wheat
steak/牛排 < dish ~ beef
barbecue/bbq/烧烤/烤串 < dish ~ meat
salad/沙拉 < dish ~ nut, egg
soup/汤 < dish ~ milk, meat
dumpling/饺子/馄饨/包子 < chinese dish ~ wheat, pork
noodle/面条/面食 < dish ~ wheat
omelette/omelet/煎蛋卷 < dish ~ egg
trail mix/坚果零食, granola/muesli/麦片 < food ~ nut, oat
peanut butter/花生酱 < food ~ peanut
nut/坚果 < food
peanut/groundnut/花生, almond/杏仁, cashew/腰果, walnut/核桃, hazelnut/榛子, pistachio/开心果, pecan/碧根果 < nut
sesame/tahini/芝麻 < food
milk/牛奶/牛乳 < dairy, drink ~ lactose
dairy/dairy product/乳制品/奶制品 < food ~ lactose
cheese/芝士/奶酪, butter/黄油, cream/奶油, yogurt/yoghurt/酸奶 < dairy ~ lactose
lactose/乳糖 < food
egg/鸡蛋/蛋类, honey/蜂蜜, mushroom/蘑菇, tofu/豆腐 < food
soy/soya/soybean/大豆/黄豆/豆制品, tofu < food
tofu < soy
gluten/麸质/麦麸, oat/燕麦 < food
wheat/flour/小麦/面粉 < food ~ gluten
bread/面包 < food ~ wheat, gluten
beer/啤酒 < alcohol ~ gluten
seafood/海鲜 < food
shellfish/crustacean/贝类/甲壳类 < seafood
shrimp/prawn/虾, crab/螃蟹/蟹, lobster/龙虾, oyster/生蚝/牡蛎, clam/蛤蜊, mussel/青口 < shellfish
fish/鱼 < seafood
salmon/三文鱼, tuna/金枪鱼, cod/鳕鱼 < fish
meat/肉/肉类/荤 < food
beef/牛肉, pork/bacon/ham/猪肉/培根/火腿, lamb/mutton/羊肉, chicken/鸡肉, duck/鸭肉 < meat
fruit/水果 < food
apple/苹果, banana/香蕉, mango/芒果, strawberry/草莓, kiwi/猕猴桃, pineapple/菠萝, peach/桃子, orange/橙子 < fruit
durian/榴莲, grape/葡萄, lemon/柠檬, cherry/樱桃, watermelon/西瓜, avocado/牛油果 < fruit
vegetable/蔬菜 < food
cilantro/coriander/香菜, onion/洋葱, garlic/大蒜/蒜, celery/芹菜 < vegetable
tomato/番茄/西红柿, broccoli/西兰花, spinach/菠菜 < vegetable
eggplant/aubergine/茄子, potato/土豆, carrot/胡萝卜, bitter melon/苦瓜, pepper/青椒 < vegetable
chili/chilli/spicy food/hot spice/spicy/辣/辣椒/辣的 < food
sugar/糖, fried food/油炸食品/炸鸡, offal/内脏 < food
drink/beverage/something to drink/饮料/饮品/喝的/喝点/喝什么/想喝/能喝/该喝/可以喝
stimulant drink/pick-me-up/提神饮料 < drink ~ caffeine
coffee/咖啡 < stimulant drink ~ caffeine
espresso/浓缩咖啡/意式浓缩, latte/拿铁, cappuccino/卡布奇诺, americano/美式咖啡, mocha/摩卡, flat white/澳白 < coffee
latte, cappuccino, mocha, flat white ~ milk
tea/茶 < stimulant drink ~ caffeine
green tea/绿茶, black tea/红茶, oolong/乌龙茶, matcha/抹茶, jasmine tea/花茶 < tea
milk tea/bubble tea/boba/奶茶 < tea ~ milk
energy drink/red bull/能量饮料/功能饮料/红牛, cola/coke/可乐 < stimulant drink, soft drink ~ caffeine
soft drink/soda/汽水/碳酸饮料, juice/果汁, smoothie/奶昔 < drink ~ sugar
caffeine/咖啡因 < drink
alcohol/alcoholic drink/酒精/酒/喝酒 < drink
wine/red wine/葡萄酒/红酒, whisky/whiskey/威士忌, vodka/伏特加, baijiu/白酒, cocktail/鸡尾酒, champagne/香槟 < alcohol
wine ~ sulfite
medicine/medication/painkiller/pill/药/吃药/用药/止痛药/退烧药/感冒药
antibiotic/抗生素/消炎药 < medicine ~ penicillin
penicillin/青霉素 < antibiotic
amoxicillin/阿莫西林 < penicillin
aspirin/阿司匹林, ibuprofen/布洛芬, paracetamol/acetaminophen/对乙酰氨基酚, sulfa/磺胺 < medicine
animal/pet/宠物
cat/kitten/猫, dog/puppy/狗, rabbit/兔子, hamster/仓鼠, bird/鸟, horse/马术 < animal
flower/bouquet/植物/鲜花/花束
pollen/花粉, lily/百合, roses/玫瑰, ragweed/豚草, birch pollen/桦树 < flower
flower ~ pollen
clothes material/面料/材质/clothing/衣服
latex/乳胶, wool/羊毛, nickel/镍, silk/丝绸, leather/皮革, down jacket/羽绒 < clothes material
sweater/毛衣, scarf/围巾 < clothes material ~ wool
jewellery/jewelry/earring/首饰/耳环 < clothes material ~ nickel
"""
DOMAINS = ("food", "drink", "medicine", "animal", "flower", "clothes material")
"""An allergy to something of a domain is touched by whatever is of that domain."""

IGNORED = "酒店 吃惊 吃力 吃透 吃亏 菜鸟 猫腻 茶几 热狗 汤加 鸟瞰 饭碗 糖尿病 药店 火药 小菜一碟".split()
"""Words that hold the name of a thing and mean another."""

NEEDS = [  # what is wanted by what it should do
    (r"\b(?:wak|perk)(?:e|es|ing)? (?:me|us) up\b|\bstay(?:ing)? awake\b|\bpick[- ]me[- ]up\b", "stimulant drink"),
    (r"\b(?:energy|caffeine) (?:boost|kick|fix)\b|\b(?:less|so) sleepy\b", "stimulant drink"),
    (r"\bkeep(?:s|ing)? (?:me|us) awake\b", "stimulant drink"),
    (r"提神|醒脑|(?:犯|很|好|有点|太)困|打瞌睡|清醒一下|提提精神|熬夜喝", "stimulant drink"),
    (r"\bthirsty\b|\bquench\b|口渴|解渴|渴了", "drink"),
    (r"\bhungry\b|\bstarving\b|\bcraving\b|饿了|肚子饿|好饿|嘴馋", "food"),
    (r"\b(?:headache|fever|sore throat|flu)\b|头疼|头痛|发烧|嗓子疼", "medicine"),
]  # fmt: skip


class Categories:
    """What is what. `parents`: what a thing is; `contents`: what it may contain; names are lower case.

    Args:
        known: another table to build on.
    """

    def __init__(self, known: Categories | None = None) -> None:
        self.names: dict[str, str] = dict(known.names) if known else dict.fromkeys(IGNORED, "")
        self.parents: dict[str, list[str]] = {}
        self.contents: dict[str, list[str]] = {}
        if known:
            self.parents = {name: list(above) for name, above in known.parents.items()}
            self.contents = {name: list(inside) for name, inside in known.contents.items()}
        self._finder: re.Pattern[str] | None = None

    def read(self, table: str) -> Categories:
        """Take in the lines of a table."""
        for line in filter(None, table.splitlines()):
            things, _, inside = line.partition("~")
            things, _, above = things.partition("<")
            for thing in things.split(","):
                first, *others = (name.strip() for name in thing.split("/"))
                name = self.names.get(first, first)
                self.names |= dict.fromkeys([first, *others], name)
                for table_of, more in ((self.parents, above), (self.contents, inside)):
                    known = table_of.setdefault(name, [])
                    wanted = [self.names.get(one, one) for one in map(str.strip, more.split(",")) if one]
                    known += [one for one in wanted if one not in known]
        return self

    def extend(self, thing: str, relation: str, other: str) -> None:
        """Take in what a user said: `thing` is_a or contains `other`."""
        name, of = self.name(thing), self.name(other)
        self.names |= {name: name, of: of}
        known = (self.parents if relation == "is_a" else self.contents).setdefault(name, [])
        if of not in known and of != name:
            known.append(of)
        self._finder = None

    def name(self, thing: str) -> str:
        """The table's name for a thing; what the table does not know is its own name."""
        lower = " ".join(thing.lower().split())
        for form in (lower, lower[:-1] if lower.endswith("s") else lower, lower.removesuffix("es")):
            if self.names.get(form):
                return self.names[form]
        return next(iter(self.named(lower)), lower)

    def named(self, text: str) -> dict[str, str]:
        """The things that a text names, each with the word it uses; a name inside a longer one does not count."""
        if self._finder is None:
            latin = [re.escape(n) for n in sorted(self.names, key=len, reverse=True) if n.isascii()]
            other = [re.escape(n) for n in sorted(self.names, key=len, reverse=True) if not n.isascii()]
            english, chinese = "|".join(latin), "|".join(other) or r"(?!)"
            self._finder = re.compile(rf"(?<![a-z0-9])({english})(?:e?s)?(?![a-z0-9])|({chinese})")
        found: dict[str, str] = {}
        for match in self._finder.finditer(text.lower()):
            name = self.names[match[1] or match[2]]
            if name:
                found.setdefault(name, match.group())
        return found

    def above(self, name: str) -> dict[str, list[str]]:
        """What a thing is, in any number of steps: name → the way to it, itself first."""
        ways = {name: [name]}
        open_ = [name]
        while open_:
            at = open_.pop(0)
            for parent in self.parents.get(at, ()):
                if parent not in ways:
                    ways[parent] = [*ways[at], parent]
                    open_.append(parent)
        return ways


@functools.cache
def shipped() -> Categories:
    """The table as it is shipped, read once."""
    return Categories().read(_TABLE)
