// Words of the page of the gateway's own keys.
import type { Language } from '../../site/routes.ts'

const en = {
  title: 'Keys of the gateway',
  signing: 'Signing keys',
  signingHelp:
    'They sign receipts, quotes, permits and evidence. A new key signs from then on; what older ones signed still verifies, until one is revoked.',
  noKeys: 'There is no key yet: the next start makes one.',
  kid: 'Key id',
  state: 'State',
  since: 'Since',
  until: 'Ended',
  ends: 'End',
  end: 'End it …',
  states: { signing: 'signs', published: 'published', retired: 'retired', revoked: 'revoked' },
  rotateSigning: 'Make a new signing key',
  retire: 'End its validity from now on',
  revoke: 'Revoke: nothing it ever signed verifies any more',
  reason: 'Reason',
  reasonHelp: 'Published with the key; everybody may read it.',
  wrapping: 'Wrapping key of credentials',
  wrappingHelp:
    'Every stored secret has a key of its own, and this one wraps them. A rotation makes a new one and moves every credential to it while the gateway serves; it goes on by itself where a process ends.',
  neverRotated:
    'The wrapping key has never been rotated. Rotate it when somebody who could read it leaves, and once a year.',
  newest: 'Newest rotation',
  progress: 'Credentials moved',
  rotations: { running: 'running', done: 'done', failed: 'failed' },
  unopened: 'No key opens these: replace or revoke them, then rotate again',
  rotateAuthority: 'Rotate the wrapping key',
  said: {
    signing: 'A new key signs from now on.',
    retired: 'The key is retired. What it signed until now verifies.',
    revoked: 'The key is revoked. Nothing that it signed verifies any more.',
    authority: 'The rotation has begun. It goes on though you leave this page.',
  },
}

const ar: typeof en = {
  title: 'مفاتيح البوابة',
  signing: 'مفاتيح التوقيع',
  signingHelp:
    'توقّع الإيصالات وعروض الأسعار والتصاريح والأدلة. المفتاح الجديد يوقّع من لحظة إنشائه، وما وقّعته المفاتيح الأقدم يبقى صحيحًا ما لم يُبطَل أحدها.',
  noKeys: 'لا يوجد مفتاح بعد: سيُنشأ عند التشغيل التالي.',
  kid: 'معرّف المفتاح',
  state: 'الحالة',
  since: 'منذ',
  until: 'انتهى',
  ends: 'الإنهاء',
  end: 'إنهاء …',
  states: { signing: 'يوقّع', published: 'منشور', retired: 'متقاعد', revoked: 'مُبطَل' },
  rotateSigning: 'إنشاء مفتاح توقيع جديد',
  retire: 'إنهاء صلاحيته من الآن',
  revoke: 'إبطال: لن يصحّ شيء مما وقّعه قط',
  reason: 'السبب',
  reasonHelp: 'يُنشر مع المفتاح ويستطيع الجميع قراءته.',
  wrapping: 'مفتاح تغليف بيانات الاعتماد',
  wrappingHelp:
    'لكل سرّ مخزَّن مفتاحه الخاص، وهذا المفتاح يغلّفها. التدوير ينشئ مفتاحًا جديدًا وينقل إليه كل بيانات الاعتماد والبوابة تعمل، ويستمر من تلقاء نفسه إذا انتهت العملية.',
  neverRotated: 'لم يُدوَّر مفتاح التغليف قط. دوّره عند مغادرة من كان يستطيع قراءته، ومرة كل سنة.',
  newest: 'أحدث تدوير',
  progress: 'بيانات الاعتماد المنقولة',
  rotations: { running: 'جارٍ', done: 'تم', failed: 'فشل لبعضها' },
  unopened: 'لا يفتح هذه أي مفتاح: استبدلها أو أبطلها ثم دوّر من جديد',
  rotateAuthority: 'تدوير مفتاح التغليف',
  said: {
    signing: 'المفتاح الجديد يوقّع من الآن.',
    retired: 'تقاعد المفتاح. ما وقّعه حتى الآن يبقى صحيحًا.',
    revoked: 'أُبطل المفتاح. لا يصحّ شيء مما وقّعه بعد الآن.',
    authority: 'بدأ التدوير، وسيستمر وإن غادرت هذه الصفحة.',
  },
}

export const gatewayKeysTexts: Readonly<Record<Language, typeof en>> = { en, ar }
