// Words of the doctor's page.
import type { Language } from '../../site/routes.ts'

const en = {
  lead: 'Everything that a start or a call needs, looked at now: the same checks as agent-gateway doctor. They change nothing.',
  check: 'Look again',
  running: 'Looking at configuration, keys, database, clock, DNS, addresses and payments',
  failed: 'The doctor ended early',
  never: 'Nobody has looked yet since this process started.',
  fine: 'Everything is well.',
  toMend: '{n} to mend',
  toLook: '{n} to look at',
  well: '{n} well',
  at: 'Looked at',
  levels: { ok: 'Well', warn: 'Look at it', fail: 'Mend it' },
  environment:
    'Misspelled environment variables are found by agent-gateway doctor, run with the environment of the gateway.',
}

const ar: typeof en = {
  lead: 'كل ما يحتاجه التشغيل أو النداء، يُفحص الآن: الفحوص نفسها التي في agent-gateway doctor. وهي لا تغيّر شيئًا.',
  check: 'افحص مجددًا',
  running: 'تُفحص الإعدادات والمفاتيح وقاعدة البيانات والساعة و DNS والعناوين والمدفوعات',
  failed: 'توقف الفحص قبل نهايته',
  never: 'لم يفحص أحد منذ بدء هذه العملية.',
  fine: 'كل شيء سليم.',
  toMend: '{n} للإصلاح',
  toLook: '{n} للنظر فيها',
  well: '{n} سليمة',
  at: 'وقت الفحص',
  levels: { ok: 'سليم', warn: 'انظر فيه', fail: 'أصلحه' },
  environment: 'متغيرات البيئة المكتوبة خطأً يجدها agent-gateway doctor حين يُشغَّل ببيئة البوابة.',
}

export const doctorTexts: Readonly<Record<Language, typeof en>> = { en, ar }
