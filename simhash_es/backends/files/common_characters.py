"""The characters that most running Chinese text is made of, to tell a right decoding from a wrong one.

In running modern Chinese the characters below and the punctuation make up three quarters and more of all characters
that are not ASCII; in text decoded with the wrong table they turn up only by chance. The list is the usual
head of frequency tables of modern Chinese (such as Jun Da, *Modern Chinese Character Frequency List*, 2004),
with the traditional forms of its members. It is a yardstick, not a dictionary: its exact borders do not matter.
"""

from __future__ import annotations

_SIMPLIFIED = (
    "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所"
    "然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与"
    "长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己"
    "制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系"
    "气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社"
    "便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉"
    "格望觉术领共确传师观清今切院让识候带导争运笔花六风影服务组织责任单位企业市场价值管理国家法律规定条例人民政府"
    "部门机关应当依照办法实施检查监督批准申请有关根据本第章条款项以上以下不得按照主管负责地方标准行政处罚"
    "七八九百千万亿元年月日号店街城县省京州华江河湖海洲岛英语言词句字典音乐图画片书店卖买购钱价米肉菜饭茶酒衣车船"
    "飞飞机票站网络电脑手机视频新闻消息报告系统数据文件软件硬件程序代码使用用户功能操作选择按键光标命令输入输出删除"
    "移动编辑行首末尾屏幕窗口开始结束完成继续练习课教程注意步骤显示改变修改保存退出打开关闭查找替换"
    "吃喝睡笑哭跑站坐拿拍写读讲谈爱恨怕喜欢快慢早晚春夏秋冬红黄蓝绿黑亮暗冷热远近左右父母兄弟姐妹男孩朋友同志先生"
    "太太老师医院病药健康身体足球比赛冠军队员历史社会经济技术研究环境问题情况工程设备投资增长发展改革"
)
_TRADITIONAL = (
    "這個們來為國說時會對後過發麼學現當沒動還進樣開實軍無與長機業將兩間問並應戰頭體見產話給門兒東聲員論處義"
    "幾認條係繫氣題爾別變總電數報結務場計資許統區隊決馬書則聽達強難權設記類據邊張該規萬術領確傳師觀讓識導爭運筆"
    "風組織責單價關辦監請項負標準罰億號縣華島語詞樂圖畫賣買購錢飯車飛網腦視頻聞軟輸選鍵標刪編輯顯屬續練習課"
    "註驟幹從裡裏沒麽經濟術勢員黨區廣檔檢視窗啟閉換寫讀講談愛歡紅藍綠遠親戰級歲營際質響轉極獲節約負傷聯邊"
)
_PUNCTUATION = "　、。·—…‘’“”〔〕〈〉《》「」『』【】！（），．：；？～￥％０１２３４５６７８９"

COMMON_CHINESE = frozenset(_SIMPLIFIED + _TRADITIONAL + _PUNCTUATION)
"""Frequent characters of Chinese text, simplified and traditional, and its punctuation."""
