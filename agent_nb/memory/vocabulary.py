"""The words that tokens are made with: English stopwords and irregular forms, Chinese grammar, plain characters."""

from __future__ import annotations

STOP = frozenset(
    """
    a an the of in on at to for from by with about into over under and or but if then than as is are was were be
    been being am do does did done have has had having will would can could should shall may might must i me my
    mine we us our you your he him his she her it its they them their this that these those there here what
    which who whom whose when where why how any some please tell show give remember know let s t don doesn didn
    isn aren wasn weren won wouldn shouldn couldn ll re ve d m
    """.split()
)
"""English words that say nothing of what a question is about."""

GENERAL = frozenset(
    """
    write translat recommend explain describ draw list make find good great learn help want need use get go come take
    look see thing way lot mani much long somebodi someth anyth until really also just like kind sort best quick
    """.split()
)
"""Stems that tell little of what a question is about: they count less."""

ORDINARY = frozenset(
    """
    time year month week day hour minut today tomorrow yesterday morn even night afternoon tonight now
    new old big small larg short high low young first last next same differ full open close easi hard hot cold
    person man woman child boy girl friend famili name word number part place point case side end start begin stop
    work live life world countri citi home hous room water food day world art book stori film music game song
    say said think feel tri call ask answer turn move play run walk sit stand read speak hear keep let put set hold
    bring leav send show watch follow chang happen mean becom seem stay carri wait line
    valu size area question problem idea reason result fact exampl form sound blue red
    green black white yellow brown one two three four five six seven eight nine ten dozen hundr thousand million half
    everi all both each much more most less few back away out off again alway never often ever hello hi thank pleas
    morn bit deal lot nice fine sure okay yes no not bird fish tree sun moon star sky sea air fire earth
    hand head eye face heart foot bodi mother father son daughter brother sister
    """.split()
)
"""Stems of everyday English: one of them in common tells little."""
ORDINARY_HAN = frozenset(
    "好大小多少最近等于现开始时间上下中里外前后出来去到做打说看想道一二三四五六七八九十两名字家心手水火山人"
)
"""Characters of everyday Chinese: one of them in common tells next to nothing."""

IRREGULAR = dict(
    pair.split(":")
    for pair in """
    children:child men:man women:woman people:person mice:mouse feet:foot teeth:tooth geese:goose lives:life
    wives:wife knives:knife leaves:leaf wolves:wolf shelves:shelf criteria:criterion analyses:analysis
    indices:index goes:go went:go gone:go bought:buy took:take taken:take ate:eat eaten:eat met:meet ran:run
    wrote:write written:write told:tell said:say paid:pay sold:sell spent:spend gave:give given:give got:get
    gotten:get made:make came:come began:begin begun:begin broke:break broken:break chose:choose chosen:choose
    drove:drive driven:drive fell:fall fallen:fall felt:feel flew:fly flown:fly found:find forgot:forget
    forgotten:forget grew:grow grown:grow kept:keep knew:know known:know lost:lose sang:sing slept:sleep
    spoke:speak spoken:speak stood:stand swam:swim taught:teach thought:think threw:throw thrown:throw wore:wear
    worn:wear sent:send built:build held:hold led:lead heard:hear caught:catch brought:bring drank:drink
    drunk:drink saw:see seen:see left:leave lent:lend rode:ride ridden:ride rose:rise risen:rise hid:hide
    hidden:hide sought:seek sat:sit drew:draw drawn:draw dealt:deal meant:mean understood:understand
    became:become won't:not
    """.split()
)
"""Forms that a stemmer does not bring together."""

CUT = (
    "什么时候|为什么|怎么样|什么|怎么|怎样|如何|哪些|哪个|哪里|哪儿|哪|多少|几个|是否|有没有|请问|告诉|"
    "记住|记得|一下|我们|你们|他们|她们|它们|这个|那个|这些|那些|的|了|吗|呢|吧|啊|嘛|是"
)
"""Chinese question phrases and particles: they separate what stands around them …"""
WHOLE = (
    "目的地|目的|的士|的确|标的|了解|为了|了结|明了|酒吧|吧台|网吧|是非|于是|吗啡|呢子|但是|还是|要是|哪吒|"
    "如何是好|国是"
)
"""… except inside of these."""
FAINT = frozenset(
    "我你您他她它在和与或及这那个都也就把被让给对算指为有会能要应该按用请的了吗呢吧啊嘛是么几其"
)
"""Characters that are words of their own as well as parts of others."""
MEASURES = frozenset("天日月年周号个次元块点分秒时")
"""Characters that count or measure: by themselves they say nothing."""
WORDS = frozenset(
    """
    会员 会议 会计 会话 机会 社会 开会 大会 协会 学会 约会 宴会 工会 例会 周会 年会 晚会 聚会 会面 会见 会场
    会费 会长 事会 有效 有限 有机 有关 有害 有趣 有用 拥有 所有 共有 私有 持有 含有 享有 国有 没有 有空 现有
    原有 占有 有利 有序 特有 用户 用途 用量 用药 用餐 费用 使用 应用 信用 作用 利用 采用 启用 停用 禁用 常用
    通用 专用 公用 商用 家用 雇用 租用 用法 用品 用水 用电 用例 可用 备用 复用 调用 引用 适用 效用 用车 用料
    用工 和平 和谐 总和 饱和 温和 和解 和服 和睦 柔和 缓和 共和 之和 在线 在职 在途 在读 在校 在内 在场 存在
    实在 现在 内在 潜在 所在 外在 在岗 在库 正在 指标 指数 指令 指南 指定 指导 指示 指纹 指挥 指针 手指 戒指
    指派 应收 应付 应急 应对 应聘 应届 应税 应缴 供应 反应 响应 效应 适应 对应 答应 感应 相应 应答 应激 能量
    能源 能力 能耗 能效 功能 性能 智能 技能 节能 职能 可能 核能 动能 产能 效能 才能 体能 阳能 要求 重要 主要
    需要 必要 摘要 要点 纪要 要素 概要 首要 想要 要价 对账 对比 对象 对接 对手 对话 对方 核对 比对 绝对 相对
    针对 面对 反对 校对 对策 对标 对冲 派对 给付 供给 补给 给予 行为 作为 成为 认为 因为 为止 为期 视为 人为
    把握 把手 把关 被子 棉被 被告 被动 植被 转让 让利 出让 让步 算法 计算 结算 预算 核算 清算 运算 决算 测算
    折算 估算 换算 算力 打算 首都 成都 都市 京都 就业 就诊 就职 成就 就医 就餐 按钮 按时 按期 按月 按年 按揭
    按摩 按键 参与 与会 或者 及时 及格 普及 涉及 以及 埃及 个人 个性 个体 个数 个税 整个 个别 自我 其他 吉他
    他人 请假 申请 邀请 聘请 请求 请客 请示 目的 的士 的确 标的 了解 为了 酒吧 网吧 几何 茶几 几内
    """.split()
)
"""Words of two characters with one of those in it."""

KANA = frozenset(
    """
    は が を に で の と も へ や か から まで より です ます でした ました ですか ますか した して する いる
    ある この その
    """.split()
)
"""Japanese particles and endings."""

_TRADITIONAL = (
    "個這們來時說對會開發長問題國學點見關機實現產業務員電話資訊號碼單價訂貨買賣錢帳戶銀費計劃經過還應該進運營數據報"
    "請讓給認識記憶區域東車輛飛處辦體醫藥書寫讀語課師習級總統計額約規則條歷歲從後愛歡樂聽聲熱氣風雲雞魚麵飲館廳門間"
)
_SIMPLIFIED = (
    "个这们来时说对会开发长问题国学点见关机实现产业务员电话资讯号码单价订货买卖钱帐户银费计划经过还应该进运营数据报"
    "请让给认识记忆区域东车辆飞处办体医药书写读语课师习级总统计额约规则条历岁从后爱欢乐听声热气风云鸡鱼面饮馆厅门间"
)
SIMPLER = str.maketrans(_TRADITIONAL, _SIMPLIFIED) | str.maketrans(
    {"’": "'", "ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "æ": "ae", "œ": "oe", "đ": "d", "ı": "i"}
)
"""The common traditional characters as simplified ones, and Latin letters that are no accent away from ASCII."""
