// What each kind of signed document is, what it proves, and what it does not.
import type { ProofKind } from '../browser/lib/proof.ts'
import type { Language } from '../routes.ts'

interface KindWords {
  readonly name: string
  readonly proves: string
  readonly provesNot: string
}
type Kinds = Readonly<Record<ProofKind, KindWords>>

const en: Kinds = {
  receipt: {
    name: 'Receipt',
    proves:
      'The gateway says what was asked and answered, as digests, what it cost, who paid and how it was settled. It cannot deny that later.',
    provesNot:
      'It does not say what was in the request or the answer, nor that the answer was right. A transfer is proven by its chain: compare the transaction.',
  },
  permit: {
    name: 'Permit',
    proves: 'The gateway lets whoever holds it carry out this one request, once, until it ends.',
    provesNot:
      'Not that the request was carried out: its receipt says so. Keep it secret, since holding it is enough.',
  },
  quote: {
    name: 'Quote',
    proves: 'The price of exactly this request, held until the quote ends.',
    provesNot: 'Nothing was paid or fetched, and another request has another price.',
  },
  offer: {
    name: 'Payment offer',
    proves: 'The gateway asked for this amount, on this network, to this address (x402 offer-receipt).',
    provesNot: 'Not that anybody paid.',
  },
  evidence: {
    name: 'Evidence',
    proves: 'The gateway sent this request at this time, and the answer had this status and digest.',
    provesNot: 'Not that the other side told the truth, nor that it answers everybody alike.',
  },
  x402Receipt: {
    name: 'x402 receipt',
    proves: 'This wallet paid for this resource (x402 offer-receipt).',
    provesNot: 'It says nothing of what was delivered: the receipt of the gateway does.',
  },
  topUp: {
    name: 'Top-up token',
    proves: 'Whoever pays with it tops up one account, once.',
    provesNot: 'Not that anything was paid.',
  },
  mcpSession: {
    name: 'MCP session',
    proves: 'The gateway opened this session.',
    provesNot: 'Nothing of what was done in it.',
  },
  call: {
    name: 'Market call',
    proves:
      'The gateway made this call to the seller for a buyer whose payment is checked. It is good for a minute.',
    provesNot: 'Who the buyer is: the name is a pseudonym that differs from seller to seller.',
  },
  push: {
    name: 'Notification',
    proves: 'The gateway sent this state of the task to this receiver.',
    provesNot: 'Not that it is still the state: ask for the task.',
  },
  auditHead: {
    name: 'Head of the audit log',
    proves: 'At this moment the log of this account ended with this event.',
    provesNot: 'Not what the events are: an export and agent-gateway audit verify show that.',
  },
  testReport: {
    name: 'Score of a sample',
    proves:
      'A sample with this digest, which somebody pasted, got this score and this report under these rules on this day.',
    provesNot:
      'Nothing about a service or a host: anybody can paste a good sample. Ask its owner for the sample and the salt, and test it yourself: agent-gateway test prints the same report hash.',
  },
  card: {
    name: 'Agent card',
    proves: 'The gateway published this card as it stands.',
    provesNot: 'Not that the agent does what the card promises.',
  },
}

const ar: Kinds = {
  receipt: {
    name: 'إيصال',
    proves:
      'تقول البوابة ما طُلب وما أُجيب به على هيئة بصمات، وكم كلّف، ومن دفع، وكيف جرت التسوية. ولا تستطيع إنكاره لاحقًا.',
    provesNot:
      'لا يقول ما كان في الطلب أو الإجابة، ولا أن الإجابة صحيحة. أما التحويل فتثبته سلسلته: قارن المعاملة.',
  },
  permit: {
    name: 'تصريح',
    proves: 'تسمح البوابة لحامله بتنفيذ هذا الطلب وحده مرة واحدة حتى ينتهي.',
    provesNot: 'لا يثبت أن الطلب نُفّذ: إيصاله يثبت ذلك. احفظه سرًّا لأن حمله يكفي.',
  },
  quote: {
    name: 'عرض سعر',
    proves: 'سعر هذا الطلب بعينه، وهو ثابت حتى ينتهي العرض.',
    provesNot: 'لم يُدفع شيء ولم يُجلب شيء، ولطلب آخر سعر آخر.',
  },
  offer: {
    name: 'عرض دفع',
    proves: 'طلبت البوابة هذا المبلغ على هذه الشبكة إلى هذا العنوان (x402 offer-receipt).',
    provesNot: 'لا يثبت أن أحدًا دفع.',
  },
  evidence: {
    name: 'دليل تنفيذ',
    proves: 'أرسلت البوابة هذا الطلب في هذا الوقت، وكانت للإجابة هذه الحالة وهذه البصمة.',
    provesNot: 'لا يثبت أن الطرف الآخر صدق، ولا أنه يجيب الجميع بالشيء نفسه.',
  },
  x402Receipt: {
    name: 'إيصال x402',
    proves: 'دفعت هذه المحفظة ثمن هذا المورد (x402 offer-receipt).',
    provesNot: 'لا يقول شيئًا عمّا سُلّم: إيصال البوابة يقوله.',
  },
  topUp: {
    name: 'رمز شحن رصيد',
    proves: 'من يدفع به يشحن حسابًا واحدًا مرة واحدة.',
    provesNot: 'لا يثبت أن شيئًا دُفع.',
  },
  mcpSession: {
    name: 'جلسة MCP',
    proves: 'فتحت البوابة هذه الجلسة.',
    provesNot: 'لا شيء مما جرى فيها.',
  },
  call: {
    name: 'نداء سوق',
    proves: 'أجرت البوابة هذا النداء إلى البائع لمشترٍ فُحص دفعه. وهو صالح دقيقة واحدة.',
    provesNot: 'هوية المشتري: الاسم مستعار يختلف من بائع إلى آخر.',
  },
  push: {
    name: 'إشعار',
    proves: 'أرسلت البوابة هذه الحالة للمهمة إلى هذا المستقبِل.',
    provesNot: 'لا يثبت أنها ما زالت الحالة: اسأل عن المهمة.',
  },
  auditHead: {
    name: 'رأس سجل التدقيق',
    proves: 'في هذه اللحظة انتهى سجل هذا الحساب بهذا الحدث.',
    provesNot: 'لا يثبت ماهية الأحداث: يُظهرها التصدير والأمر agent-gateway audit verify.',
  },
  testReport: {
    name: 'درجة عيّنة',
    proves: 'نالت عيّنة بهذه البصمة، ألصقها شخص ما، هذه الدرجة وهذا التقرير بهذه القواعد في هذا اليوم.',
    provesNot:
      'لا يثبت شيئًا عن خدمة أو مضيف: يمكن لأي شخص أن يلصق عيّنة جيدة. اطلب العيّنة وملحها (salt) من صاحبها واختبرها بنفسك: يطبع agent-gateway test بصمة التقرير نفسها.',
  },
  card: {
    name: 'بطاقة وكيل',
    proves: 'نشرت البوابة هذه البطاقة كما هي.',
    provesNot: 'لا يثبت أن الوكيل يفعل ما تعد به البطاقة.',
  },
}

/** `proofKinds[page.language]` */
export const proofKinds: Readonly<Record<Language, Kinds>> = { en, ar }
export type ProofKindTexts = Kinds
