// Titles of the guides in other languages than English, and what each is read for: the guides themselves are English.
import type { Language } from '../routes.ts'

interface GuideWords {
  readonly title: string
  readonly summary: string
}

const ar: Readonly<Record<string, GuideWords>> = {
  start: { title: 'ابدأ هنا', summary: 'التثبيت والربط وأول طلب.' },
  'sign-in': { title: 'تسجيل الدخول للمساعدين', summary: 'وصل مساعد بعنوان البوابة وحده، وما تقرره أنت.' },
  mcp: { title: 'ربط عميل MCP', summary: 'اربط مساعدًا أو أي عميل MCP.' },
  frameworks: { title: 'ربط إطار عمل للوكلاء', summary: 'AI SDK و LangChain و OpenAI Agents SDK و mcp-use.' },
  a2a: { title: 'ربط وكيل A2A', summary: 'يكفيه العنوان وحده.' },
  rest: { title: 'واجهة HTTP', summary: 'استدعِ الأدوات عبر HTTP.' },
  console: { title: 'لوحة التحكم', summary: 'حيث يقرر الأشخاص ويراقبون ويغيّرون من يحق له ماذا.' },
  people: {
    title: 'الأشخاص والأدوار وتسجيل الدخول',
    summary: 'دعوة الأشخاص وأدوارهم ومفاتيح المرور ومزوّد الهوية، وما العمل إذا لم يبق مالك.',
  },
  site: { title: 'الموقع', summary: 'صفحات الموقع، وكيف يكون له عنوان مستقل.' },
  answers: { title: 'الأجوبة عبر MCP و A2A', summary: 'ما الذي يُحذف من الجواب وكيف تحصل عليه.' },
  outcomes: { title: 'النتائج', summary: 'اشترِ نتيجة من مصادر عامة.' },
  'web-fetch': { title: 'جلب صفحة', summary: 'اشترِ صفحة عامة واحدة.' },
  'credential-broker': {
    title: 'بيانات الاعتماد والصلاحيات',
    summary: 'خزّن سرًّا، وامنح صلاحية، واستدعِ واجهة.',
  },
  permits: { title: 'التصاريح', summary: 'اسمح بطلب واحد بعينه بموافقة إنسان.' },
  inspection: { title: 'الفحص', summary: 'افحص المعاملة قبل إرسالها.' },
  email: { title: 'البريد الإلكتروني', summary: 'قرّر بشأن عنوان: قبول أو مراجعة أو رفض.' },
  tools: { title: 'الأدوات', summary: 'جدول بكل الأدوات.' },
  payments: { title: 'المدفوعات', summary: 'ادفع ثمن أداة، واشترِ رصيدًا، واستخدم الوسيط.' },
  buying: { title: 'الشراء من السوق', summary: 'ابحث عن خدمة مدفوعة واستدعها.' },
  discovery: { title: 'الاكتشاف', summary: 'ابحث عن موارد مدفوعة.' },
  'market-figures': { title: 'أرقام السوق', summary: 'معنى كل رقم، وكيف تقيّم طلبًا.' },
  selling: { title: 'البيع في السوق', summary: 'سجّل، وأثبت ملكية المضيف، واعرض واجهتك للبيع.' },
  'seller-money': { title: 'أموال السوق', summary: 'الدفعات للبائعين والاسترداد وكشف الحساب.' },
  edge: { title: 'الحافة', summary: 'بِع للوكلاء عبر البوابة بصفتك تاجرًا.' },
  configuration: { title: 'الإعدادات', summary: 'جدول بكل المتغيرات.' },
  operating: { title: 'التشغيل', summary: 'شغّل البوابة.' },
  limits: { title: 'الحدود', summary: 'ما هو محدود وبكم.' },
  performance: { title: 'الأداء', summary: 'الأرقام المقيسة.' },
  architecture: { title: 'البنية', summary: 'اعثر على ملف وتتبّع طلبًا عبر الشيفرة.' },
  dependencies: { title: 'الاعتماديات', summary: 'لماذا كل حزمة هنا.' },
  contributing: { title: 'المساهمة', summary: 'ما تحتاج إليه لتعديل الشيفرة.' },
  'security-model': { title: 'نموذج الأمان', summary: 'ما الذي يُحمى وكيف.' },
  security: { title: 'الهجمات وما يصدّها', summary: 'كل هجوم جُرّب، وما يلقاه، والاختبار الذي يثبته.' },
  'report-a-weakness': { title: 'الإبلاغ عن ثغرة', summary: 'إلى من تكتب.' },
  contract: { title: 'العقد', summary: 'القواعد التي تسري على كل جزء.' },
  examples: { title: 'برامج كاملة', summary: 'شغّل برنامجًا كاملًا.' },
}

const WORDS: Readonly<Record<Language, Readonly<Record<string, GuideWords>>>> = { en: {}, ar }

/** The words of a guide in a language; undefined where there are only the English ones. */
export const guideWords = (language: Language, slug: string): GuideWords | undefined => WORDS[language][slug]
