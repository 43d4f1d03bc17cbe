// Words of the page of notifications.
import type { AlertKind } from '../../../../schemas/notification.ts'
import type { Language } from '../../site/routes.ts'

const en = {
  title: 'Notifications',
  lead: 'Who is told while nobody looks at the console. The address is kept sealed; its host is all that is shown.',
  label: 'Addresses that are told',
  host: 'Host',
  kinds: 'Of what',
  state: 'State',
  told: 'Last told',
  problem: 'Not taken: {p}',
  never: 'Nothing yet',
  added: 'Added',
  takes: 'Takes them',
  waits: 'Not told yet',
  fails: 'Does not take them',
  test: 'Send a test',
  remove: 'Remove',
  empty: 'Nobody is told yet. Add the address of a chat, a pager or a program of your own.',
  add: 'Add an address',
  url: 'Address',
  urlHelp:
    'A public https address: a POST of JSON, signed with the key of this gateway (Standard Webhooks). Or mailto:anna@example.com, where this gateway sends mail.',
  addAct: 'Add',
  kindNames: {
    approval: 'A permit waits for a person',
    refresh_failed: 'No token could be renewed for a credential',
    secret_reflected: 'An answer held a secret and was withheld',
    settler_low: 'An account that settles payments runs out of gas',
  } satisfies Record<AlertKind, string>,
  once: 'The same is told once an hour. What is not taken is sent again for about three hours.',
  browser: 'On this device',
  browserHow: 'The inbox tells this browser of what waits, while it is open in a tab.',
  browserAct: 'Open the inbox',
  done: {
    added: 'The address is told from now on.',
    removed: 'The address is told no more.',
    taken: 'The test was taken.',
    failed: 'The test was not taken: the table says why.',
  } as Readonly<Record<string, string>>,
}

const ar: typeof en = {
  title: 'الإشعارات',
  lead: 'من يُبلَّغ حين لا ينظر أحد إلى لوحة التحكم. يُحفظ العنوان مختومًا، ولا يُعرض منه إلا المضيف.',
  label: 'العناوين التي تُبلَّغ',
  host: 'المضيف',
  kinds: 'بماذا',
  state: 'الحالة',
  told: 'آخر إبلاغ',
  problem: 'لم يُقبل: {p}',
  never: 'لا شيء بعد',
  added: 'أُضيف',
  takes: 'يقبلها',
  waits: 'لم يُبلَّغ بعد',
  fails: 'لا يقبلها',
  test: 'أرسل تجربة',
  remove: 'إزالة',
  empty: 'لا يُبلَّغ أحد بعد. أضف عنوان محادثة أو جهاز تنبيه أو برنامج لك.',
  add: 'أضف عنوانًا',
  url: 'العنوان',
  urlHelp:
    'عنوان https عام: يُرسل إليه JSON بطلب POST موقّع بمفتاح هذه البوابة (Standard Webhooks). أو mailto:anna@example.com حيث تُرسل هذه البوابة البريد.',
  addAct: 'إضافة',
  kindNames: {
    approval: 'تصريح ينتظر شخصًا',
    refresh_failed: 'تعذّر تجديد رمز لبيانات اعتماد',
    secret_reflected: 'احتوت إجابة سرًّا فحُجبت',
    settler_low: 'حساب تسوية المدفوعات يوشك على نفاد الوقود',
  },
  once: 'يُبلَّغ بالشيء نفسه مرة في الساعة، وما لا يُقبل يُعاد إرساله نحو ثلاث ساعات.',
  browser: 'على هذا الجهاز',
  browserHow: 'ينبّه الوارد هذا المتصفح إلى ما ينتظر ما دام مفتوحًا في لسان.',
  browserAct: 'افتح الوارد',
  done: {
    added: 'سيُبلَّغ العنوان من الآن.',
    removed: 'لن يُبلَّغ العنوان بعد الآن.',
    taken: 'قُبلت التجربة.',
    failed: 'لم تُقبل التجربة، والجدول يبيّن السبب.',
  },
}

export const notificationTexts: Readonly<Record<Language, typeof en>> = { en, ar }
