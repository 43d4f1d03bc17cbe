// Words around the written documents: shelves, search, contents; the reference, problems, and the page of a price.
import type { Language } from '../routes.ts'

const en = {
  title: 'Documentation',
  lead: 'Short guides, each for one task. Commands and programs are tested as they stand, and name this gateway.',
  description: 'Guides for agents, buyers, sellers and operators of Agent Gateway.',
  search: 'Search the documentation',
  find: 'Search',
  found: { none: 'Nothing has these words. Try fewer, or one of the guides below.', some: 'Found for' },
  shelves: {
    connect: 'Connect',
    use: 'Use the tools',
    buy: 'Pay and buy',
    sell: 'Sell',
    operate: 'Operate',
    security: 'Security',
    examples: 'Whole programs',
  },
  alsoHere: 'Also here',
  also: {
    reference: 'Every tool, route, header and error',
    problems: 'What each refusal means, and what to do',
    changelog: 'What changed, and when',
    forAgents: 'The same for agents, in plain text',
  },
  reference: 'API reference',
  problems: 'Errors',
  changelog: 'Changelog',
  onThisPage: 'On this page',
  previous: 'Previous',
  next: 'Next',
  guides: 'Guides',
  cut: 'The text is longer than what is shown.',
}

const ar: typeof en = {
  title: 'الوثائق',
  lead: 'أدلة قصيرة، لكل مهمة دليل. الأوامر والبرامج مختبرة كما هي، وتحمل عنوان هذه البوابة.',
  description: 'أدلة للوكلاء والمشترين والبائعين ومشغّلي Agent Gateway.',
  search: 'ابحث في الوثائق',
  find: 'بحث',
  found: { none: 'لا توجد نتائج بهذه الكلمات. جرّب كلمات أقل أو أحد الأدلة أدناه.', some: 'نتائج البحث عن' },
  shelves: {
    connect: 'الربط',
    use: 'استخدام الأدوات',
    buy: 'الدفع والشراء',
    sell: 'البيع',
    operate: 'التشغيل',
    security: 'الأمان',
    examples: 'برامج كاملة',
  },
  alsoHere: 'وهنا أيضًا',
  also: {
    reference: 'كل أداة ومسار وترويسة وخطأ',
    problems: 'معنى كل رفض وما العمل حياله',
    changelog: 'ما الذي تغيّر ومتى',
    forAgents: 'المحتوى نفسه للوكلاء نصًّا صرفًا',
  },
  reference: 'مرجع الواجهة البرمجية',
  problems: 'الأخطاء',
  changelog: 'سجل التغييرات',
  onThisPage: 'في هذه الصفحة',
  previous: 'السابق',
  next: 'التالي',
  guides: 'الأدلة',
  cut: 'النص أطول مما يُعرض هنا.',
}

export const docsTexts: Readonly<Record<Language, typeof en>> = { en, ar }
