// Words of the catalogue; they are in its script too, which draws the list anew as somebody types. `{a}`, `{b}` are filled in.
import type { Toolset } from '../../../core/tool.ts'
import type { Language } from '../routes.ts'

const en = {
  title: 'Catalogue',
  lead: '{a} tools and {b} capabilities, each over HTTP, MCP and A2A. Prices are for one call.',
  search: 'Search',
  searchHint: 'A goal, a word or a name: fetch a page, receipt, web.fetch',
  filters: { who: 'Who may call', price: 'Price', door: 'Protocol' },
  anything: 'All',
  whoChoice: { anyone: 'Anyone', key: 'With a key' },
  priceChoice: { free: 'Free', paid: 'USDC', credits: 'Credits' },
  show: 'Show',
  clear: 'Clear all',
  found: {
    none: 'Nothing found',
    one: '1 found',
    other: '{a} found',
    few: '{a} found',
    many: '{a} found',
    two: '2 found',
  },
  didYouMean: 'Did you mean',
  nothing: 'Nothing matches. Use fewer words, take a filter away, or look through the groups.',
  byGoal: 'By goal',
  byGoalHint: 'A goal takes several tools, in an order. Agents read it as a skill.',
  capability: 'capability',
  capabilities: 'Capabilities',
  capabilitiesHint: 'Whole results from public sources, ready to buy or to try.',
  keyMark: {
    capability: 'capability',
    operator: 'service key',
    admin: 'administrator',
    account: 'key or capability',
    email: 'free email key',
    seller: 'seller',
    anyone: '',
  },
  toolsets: {
    web: { name: 'Web', words: 'Results from public pages, shops and feeds; checks before a call' },
    payments: {
      name: 'Payments',
      words: 'Prices, credits, payments, receipts, and a facilitator for your own x402 payments',
    },
    egress: {
      name: 'Calls with a credential',
      words: 'APIs called with a credential that stays in the gateway, and permits for one exact request',
    },
    commerce: {
      name: 'Transactions',
      words: 'Inspection and tests of purchases, mandates and payment requests',
    },
    email: { name: 'Email', words: 'Verification of email addresses, with a free key' },
    market: {
      name: 'Market',
      words: 'Services that others sell for USDC: find, call and rate them, or sell your own',
    },
    operator: {
      name: 'Operation',
      words: 'Credentials, capabilities, mandates, keys and accounts, for holders of a service key',
    },
  } satisfies Record<Toolset, { name: string; words: string }>,
}

const ar: typeof en = {
  title: 'الدليل',
  lead: 'عدد الأدوات {a} وعدد الخدمات {b}، وكل منها متاح عبر HTTP و MCP و A2A. الأسعار للنداء الواحد.',
  search: 'بحث',
  searchHint: 'هدف أو كلمة أو اسم، بالإنجليزية: fetch a page أو receipt أو web.fetch',
  filters: { who: 'لمن', price: 'السعر', door: 'البروتوكول' },
  anything: 'الكل',
  whoChoice: { anyone: 'للجميع', key: 'بمفتاح' },
  priceChoice: { free: 'مجاني', paid: 'USDC', credits: 'بالرصيد' },
  show: 'اعرض',
  clear: 'امسح الكل',
  found: {
    none: 'لا نتائج',
    one: 'نتيجة واحدة',
    two: 'نتيجتان',
    few: '{a} نتائج',
    many: '{a} نتيجة',
    other: '{a} نتيجة',
  },
  didYouMean: 'هل تقصد',
  nothing: 'لا شيء يطابق. استخدم كلمات أقل، أو أزل مرشّحًا، أو تصفّح المجموعات.',
  byGoal: 'بحسب الهدف',
  byGoalHint: 'الهدف يحتاج عدة أدوات بترتيب معيّن، ويقرؤه الوكلاء كمهارة.',
  capability: 'خدمة',
  capabilities: 'الخدمات',
  capabilitiesHint: 'نتائج كاملة من مصادر عامة، جاهزة للشراء أو التجربة.',
  keyMark: {
    capability: 'صلاحية وكيل',
    operator: 'مفتاح خدمة',
    admin: 'المدير',
    account: 'مفتاح أو صلاحية',
    email: 'مفتاح بريد مجاني',
    seller: 'بائع',
    anyone: '',
  },
  toolsets: {
    web: { name: 'الويب', words: 'نتائج من صفحات ومتاجر وموجزات عامة، وفحوص قبل النداء' },
    payments: {
      name: 'المدفوعات',
      words: 'الأسعار والرصيد والمدفوعات والإيصالات، ووسيط لمدفوعات x402 الخاصة بك',
    },
    egress: {
      name: 'نداءات باعتماد محفوظ',
      words: 'نداء الواجهات باعتماد لا يغادر البوابة، وتصاريح لطلب واحد بعينه',
    },
    commerce: { name: 'المعاملات', words: 'فحص المشتريات والتفويضات وطلبات الدفع واختبارها' },
    email: { name: 'البريد', words: 'التحقق من عناوين البريد بمفتاح مجاني' },
    market: { name: 'السوق', words: 'خدمات يبيعها آخرون بعملة USDC: ابحث عنها ونادِها وقيّمها، أو بِع خدمتك' },
    operator: {
      name: 'التشغيل',
      words: 'الاعتمادات والصلاحيات والتفويضات والمفاتيح والحسابات، لحاملي مفتاح خدمة',
    },
  },
}

export type CatalogueTexts = typeof en
/** `catalogueTexts[page.language]` */
export const catalogueTexts: Readonly<Record<Language, CatalogueTexts>> = { en, ar }
