# ruff: noqa: E501
"""Words: what a goal's words and a column's name parts stand for, in English and Chinese.

A *concept* is one meaning under many words; goals and column names meet there ("revenue" and "amt" are one).
Words without a concept stand for themselves.
"""

from __future__ import annotations

import functools


def words(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


_CONCEPTS = """
revenue: revenue sales sale amount amt turnover income takings proceeds 销售额 金额 营收 营业额 收入 销售金额 销售收入 成交额 销售
quantity: quantity qty units volume pieces pcs 数量 销量 件数 销售量 销售数量
price: price prices 价格 单价 售价
cost: cost costs expense expenses spend spending 成本 费用 支出 花费
profit: profit profits earnings 利润 毛利
discount: discount discounts rebate 折扣 优惠
refund: refund refunds refunded 退款
tax: tax taxes 税 税额
fee: fee fees 手续费
net: net 净
gross: gross
salary: salary salaries pay wage wages compensation 工资 薪资 薪水 薪酬 月薪
bonus: bonus bonuses 奖金
age: age ages 年龄
score: score scores rating ratings grade csat satisfaction 评分 分数 得分 成绩 满意度
stock: stock inventory 库存
balance: balance 余额
delay: delay delays delayed lateness 延误 晚点 延迟
distance: distance distances dist 距离 里程
duration: duration durations 时长 持续时间
temperature: temperature temperatures temp 温度 气温
humidity: humidity humid 湿度
pressure: pressure 压力 气压
speed: speed speeds velocity 速度
weight: weight weights 重量
wind: wind 风
rate: rate rates 率
power: power 功率
energy: energy consumption kwh mwh 能耗 用电量
dep: dep departure departures 出发 起飞 离港
arr: arr arrival arrivals 到达 抵达 到港
sched: sched scheduled schedule 计划
origin: origin origins orig 出发地 始发地 始发
dest: dest destination destinations 目的地
airport: airport airports 机场
airline: airline airlines carrier carriers 航空公司 航司
flight: flight flights 航班
plane: plane planes aircraft 飞机
route: route routes 航线 路线
region: region regions area areas territory territories zone zones 地区 区域 大区
country: country countries nation 国家
city: city cities town 城市
province: province provinces 省份 省
store: store stores shop shops outlet branch 门店 店铺 商店 分店
product: product products item items sku goods article articles 产品 商品 货品
category: category categories cat 类别 品类 分类 类目
brand: brand brands 品牌
manufacturer: manufacturer manufacturers maker 制造商 厂商 厂家
customer: customer customers client clients buyer buyers cust 客户 顾客 买家
supplier: supplier suppliers vendor vendors 供应商
employee: employee employees staff worker workers emp personnel people 员工 职工 雇员 人员
manager: manager managers 经理
seller: seller sellers salesperson salespeople rep reps 销售员 业务员 销售代表
department: department departments dept depts division divisions 部门
position: position positions job jobs title role roles 职位 岗位 职务
gender: gender sex 性别
order: order orders ord 订单
invoice: invoice invoices 发票
transaction: transaction transactions txn 交易
user: user users 用户
visit: visit visits 访问
channel: channel channels 渠道
status: status statuses 状态
payment: payment payments 支付 付款
segment: segment segments 细分
team: team teams 团队 小组
project: project projects 项目
school: school schools 学校
student: student students pupil pupils 学生
class: class classes 班级
subject: subject subjects 科目 学科
sensor: sensor sensors probe 传感器
device: device devices machine machines 设备 机器
site: site sites location locations place places 地点 站点 位置
reading: reading readings measurement measurements 读数
patient: patient patients 患者 病人
hospital: hospital hospitals 医院
doctor: doctor doctors 医生
warehouse: warehouse warehouses depot 仓库
hire: hire hired hiring joined 入职
ship: ship shipped shipping shipment delivery delivered 发货 配送
birth: birth born 出生
date: date dates dt 日期
time: time times timestamp ts 时间
year: year years yr 年份 年度
month: month months mon 月份
day: day days 日
quarter: quarter quarters qtr 季度
hour: hour hours hr 小时 时段
minute: minute minutes mins 分钟
week: week weeks 周
weekday: weekday 星期
name: name names 名称 名字 姓名
id: id ids key 编号 号
type: type types kind kinds 类型 种类
model: model models 型号
seat: seat seats 座位
engine: engine engines 引擎
visibility: visib visibility 能见度
precipitation: precip precipitation rain rainfall 降水 降水量
altitude: alt altitude 海拔
latitude: lat latitude 纬度
longitude: lon lng longitude 经度
"""

ADDITIVE = words(
    """
    revenue quantity cost profit refund tax fee bonus discount energy visit mrr gmv attendance output production
    """
)
"""Measures that are summed where the goal names no statistic."""

INTENSIVE = words(
    """
    price salary age score delay temperature humidity pressure speed weight rate power distance duration
    wind visibility altitude reading balance stock
    """
)
"""Measures for which a mean makes sense and a total hardly does."""

MEASURES = ADDITIVE | INTENSIVE | {"net", "gross"}

WEAK = words(
    """
    id name code no num number nr usd eur cny rmb gbp c f kg km m cm mm s ms kwh kw mwh mw gwh pct percent unit
    total sum value val the of in full 元 万元 度 annual 年 名 期
    """
)
"""Parts of a column's name that a goal may leave out."""

STOPWORDS = words(
    """
    a an the of in on at for to from by with and or as is are was were be been being do does did has
    have had having it its it's they them their there this that these those what which who whom whose
    when where how much many me my we us our i you your can could would will shall should may might
    please tell give show list find get let know want need like see look calculate compute determine
    report return display provide answer question each every all any per across within among between
    during over then than so if also just only one ones overall data dataset dataframe table tables
    column columns field row rows record records value values number numbers result results figure
    figures level levels group groups grouped break broken breakdown split respectively left departed
    depart departing leave leaving arrived arrive arriving had respectively himself itself out made make
    makes recorded registered happened happen happens observed occurred occur gave give given got get
    going go goes went come came comes about into onto via using use used based according regarding
    respect terms case cases set hi hello hey thanks thank okay ok kindly quick quickly brief briefly
    short summary summarize summarise analysis analyze analyse check now here well some much more most
    less least periods compared comparison s t d re ve ll m whole entire entirely exactly really
    actually currently present exist exists contain contains containing entries entry include includes
    included sold bought earned earn earns sell sells generate generated generates bring brought brings
    bringing take took taken experienced experience suffered see saw seen flew flown fly flies operate
    operated operates operating do's perform performed performs order
    """
)

VALUE_LIKE = words(
    "sell sells sold bought arrived departed left operated used out present included short made"
)
"""Stop words that may be values all the same ("sell" and "buy" as the two sides of a trade)."""

ZH_STOP = sorted(
    words(
        """
        请问 请 看 想 要 说 帮我 帮忙 告诉我 告诉 我想知道 我想 想知道 我要 给我 看看 看一下 一下 查一下 查询 查 计算 算一下
        算 统计 列出 显示 展示 分析 求 的 了 是 在 有 和 与 及 以及 并 并且 而且 还有 那 那么 这 个 中 里
        里面 之中 其中 当中 上 下 于 对 对于 关于 从 到 至 把 被 将 也 就 呢 吗 啊 吧 呀 分别 各自 各
        每个 每 按照 按 以 为 所有 全部 一共 总共 整个 整体 哪个 哪些 哪家 哪一个 哪一家 哪几个 哪几家 哪位 哪
        谁 什么 怎么样 怎样 如何 多少 几 情况 数据 数据集 表 表格 列 字段 数值 值 结果 记录 行 条 进行 做 给出
        分组 时候 期间 期 发生 出现 产生 达到 家 名 位 后 间 我 你 他 它 我们 啥 是不是 一个 ， 。 、 ？ ！
        ： ； 来 去 最 得 地 根据 其 该 此 分 找出 找到 之间
        """
    ),
    key=lambda word: (-len(word), word),
)

RISKY = (
    r"not|n't|no|never|neither|nor|none|except|excluding|exclude|excludes|excluded|without|unless|but|other than|apart from|"
    r"besides|ignoring|ignore|if|when|while|whose|adjusted|weighted|normali[sz]ed|per|cumulative|both|running|rolling|"
    r"除|不|非|没|无|未|排除|以外|之外|如果|加权|累计|人均|只|仅"
)


@functools.cache
def words_of_concepts() -> dict[str, str]:
    """word → concept, for English and Chinese words."""
    table: dict[str, str] = {}
    for line in _CONCEPTS.strip().splitlines():
        concept, _, words = line.partition(":")
        table[concept.strip()] = concept.strip()
        for word in words.split():
            table.setdefault(word, concept.strip())
    return table


def concept(word: str) -> str:
    """The meaning that a lower-case word stands for: its concept, else its singular, else itself."""
    table = words_of_concepts()
    if word in table:
        return table[word]
    for ending, instead in (("ies", "y"), ("ses", "s"), ("xes", "x"), ("ches", "ch"), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            stem = word[: -len(ending)] + instead
            return table.get(stem, stem)
    return word


def is_cjk(char: str) -> bool:
    """Whether the character is a Chinese one."""
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"
