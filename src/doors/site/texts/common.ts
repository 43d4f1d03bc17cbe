// Words of every page. Each file of this folder holds the words of one part of the site, in every language.
import type { Language } from '../routes.ts'

const en = {
  name: 'Agent Gateway',
  tagline: 'AI agents act on the internet through it, without ever holding a secret.',
  sandbox: 'Sandbox: test money and test keys only',
  skip: 'Skip to the content',
  menu: 'Menu',
  nav: {
    catalogue: 'Catalogue',
    marketplace: 'Marketplace',
    discovery: 'Discovery',
    test: 'Test',
    verify: 'Verify',
    status: 'Status',
    docs: 'Docs',
  },
  console: 'Console',
  theme: { label: 'Colours', auto: 'System', light: 'Light', dark: 'Dark' },
  otherLanguage: 'العربية',
  copy: 'Copy',
  copied: 'Copied',
  free: 'free',
  forAgents: 'For agents',
  footer: 'This page in another form, here or by the header Accept:',
  notEnglish: '',
  notFound: 'There is nothing here',
  notFoundHelp:
    'The address may be mistyped, or what was here is gone. One of these may be what you look for:',
  failed: 'This did not work',
  whatToDo: 'What to do',
  requestId: 'Request',
  status: { done: 'Done', waiting: 'Waiting', failed: 'Failed', unknown: 'Unknown' },
}

const ar: typeof en = {
  name: 'Agent Gateway',
  tagline: 'بوابة يعمل عبرها وكلاء الذكاء الاصطناعي على الإنترنت دون أن يحملوا سرًّا واحدًا.',
  sandbox: 'بيئة تجريبية: نقود ومفاتيح للاختبار فقط',
  skip: 'انتقل إلى المحتوى',
  menu: 'القائمة',
  nav: {
    catalogue: 'الدليل',
    marketplace: 'السوق',
    discovery: 'الاكتشاف',
    test: 'الاختبار',
    verify: 'التحقق',
    status: 'الحالة',
    docs: 'الوثائق',
  },
  console: 'لوحة التحكم',
  theme: { label: 'الألوان', auto: 'النظام', light: 'فاتح', dark: 'داكن' },
  otherLanguage: 'English',
  copy: 'نسخ',
  copied: 'نُسخ',
  free: 'مجاني',
  forAgents: 'للوكلاء',
  footer: 'هذه الصفحة بصيغة أخرى، من هنا أو بالترويسة Accept:',
  notEnglish: 'النصوص التقنية مكتوبة بالإنجليزية.',
  notFound: 'لا يوجد شيء هنا',
  notFoundHelp: 'قد يكون العنوان خاطئًا أو أن المحتوى قد أزيل. لعلك تبحث عن أحد هذه:',
  failed: 'لم ينجح هذا',
  whatToDo: 'ما العمل',
  requestId: 'الطلب',
  status: { done: 'تم', waiting: 'قيد الانتظار', failed: 'فشل', unknown: 'غير معروف' },
}

/** `common[page.language]` */
export const common: Readonly<Record<Language, typeof en>> = { en, ar }
