// Words of the page for whoever found this gateway in the log of a web server.
import type { Language } from '../routes.ts'

const en = {
  title: 'The reader of this gateway',
  description: 'Who asks under the name AgentGateway, what for, and how to keep it away.',
  lead: 'You found AgentGateway in the log of your web server. It reads single public pages that a person or an agent asked this gateway for at that moment.',
  what: 'What it does',
  does: [
    'It reads the address that somebody named, up to three of them at once, with GET and over HTTPS.',
    'It follows no links. It follows up to three redirects, and it does not come back by itself.',
    'It sends no cookies and no account, runs no scripts, and reads at most 2 MiB of a page.',
    'It asks for robots.txt and for /.well-known/tdmrep.json once a day at most.',
  ],
  name: 'Its name',
  nameIs: 'The User-Agent begins with this, and robots.txt may use the name:',
  policy: 'What it keeps to',
  keeps:
    'Unless its operator decides otherwise, it does not deliver what robots.txt keeps from it by name, nor what reserves its use: `noai` in `X-Robots-Tag` or in a meta element, `Content-Signal: ai-input=no`, or a TDM reservation. Because it reads single pages on request, as a browser does, a rule for all robots is told to whoever asked, and does not stop it; operators may choose that it does.',
  block: 'Keep it away',
  blockHow: 'Put these lines into the robots.txt of your host. They count within a day.',
  addresses: 'From which addresses',
  addressesAre:
    'It asks from the addresses of the servers that the operator of this gateway runs. They are not published here: use the name above, or write to the contact in /.well-known/security.txt, where there is one.',
}

const ar: typeof en = {
  title: 'قارئ هذه البوابة',
  description: 'من الذي يطلب الصفحات باسم AgentGateway، ولماذا، وكيف تمنعه.',
  lead: 'وجدت AgentGateway في سجل خادمك. إنه يقرأ صفحات عامة مفردة طلبها شخص أو وكيل من هذه البوابة في تلك اللحظة.',
  what: 'ماذا يفعل',
  does: [
    'يقرأ العنوان الذي سمّاه صاحب الطلب، وثلاثة عناوين معًا على الأكثر، بطريقة GET وعبر HTTPS.',
    'لا يتتبع الروابط. يتبع ثلاث عمليات إعادة توجيه على الأكثر، ولا يعود من تلقاء نفسه.',
    'لا يرسل ملفات ارتباط ولا حسابًا، ولا يشغّل البرامج، ولا يقرأ من الصفحة أكثر من 2 ميبيبايت.',
    'يطلب robots.txt و /.well-known/tdmrep.json مرة واحدة في اليوم على الأكثر.',
  ],
  name: 'اسمه',
  nameIs: 'تبدأ ترويسة User-Agent بهذا، ويمكن استعمال الاسم في robots.txt:',
  policy: 'ما يلتزم به',
  keeps:
    'ما لم يقرر المشغّل غير ذلك، لا يسلّم ما يمنعه robots.txt عنه باسمه، ولا ما حُفظت حقوق استعماله: `noai` في `X-Robots-Tag` أو في عنصر meta، أو `Content-Signal: ai-input=no`، أو تحفّظ TDM. ولأنه يقرأ صفحات مفردة عند الطلب كما يفعل المتصفح، فإن القاعدة الموجهة إلى جميع الروبوتات تُبلَّغ لصاحب الطلب ولا توقفه، ويمكن للمشغّل أن يختار أن توقفه.',
  block: 'كيف تمنعه',
  blockHow: 'ضع هذين السطرين في ملف robots.txt على مضيفك. يسري ذلك خلال يوم.',
  addresses: 'من أي عناوين',
  addressesAre:
    'يطلب الصفحات من عناوين الخوادم التي يديرها مشغّل هذه البوابة. وهي غير منشورة هنا: استعمل الاسم أعلاه، أو راسل جهة الاتصال في ‎/.well-known/security.txt إن وُجدت.',
}

export const readerTexts: Readonly<Record<Language, typeof en>> = { en, ar }
