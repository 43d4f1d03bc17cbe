// Words of signing in, joining, and showing again that it is you.
import type { Language } from '../../site/routes.ts'

const en = {
  signIn: 'Sign in',
  signInLead: 'With the passkey of this device, or one on your phone or security key. There is no password.',
  withPasskey: 'Sign in with a passkey',
  asking: 'Waiting for your device…',
  lostPasskey: 'I have no passkey here',
  recoveryCode: 'Recovery code',
  recoveryHelp: 'One of the ten that you were shown when you joined. Each works once.',
  withCode: 'Sign in with the code',
  askOwner: 'No code left? An owner of your account can send you a link for a new passkey.',
  needsScript: 'A passkey needs a script, and this browser runs none here. A recovery code works without.',
  nobody: 'Nobody has joined this gateway yet. On its machine, run this and open the link that it prints:',
  kept: 'What you typed is kept in this page. After signing in you are asked whether to send it.',
  already: (name: string) => `You are signed in as ${name}.`,
  goOn: 'Go to the console',
  back: 'Signed in again',
  backLead: 'You are signed in again, and what you typed is still here. Nothing was sent yet.',
  sendNow: 'Send it now',
  secretsGone: 'Secrets are not kept: where one was typed, you are asked for it again.',
  signedOut: 'You are signed out.',

  join: 'Join',
  joinNeedsScript:
    'Joining makes a passkey, which needs a script. Allow scripts for this page, or open the link in another browser.',
  reading: 'Reading the invitation…',
  noInvitation: 'Open the whole link of your invitation: its end, behind #, is missing.',
  invited: (role: string, account: string) => `You are invited as ${role} of the account “${account}”.`,
  invitedAgain: 'With this link you get a new passkey. Those that you had, and your open sessions, end.',
  yourName: 'Your name',
  nameHelp: 'As the others see it beside what you decide.',
  makePasskey: 'Make a passkey and join',
  whatPasskey:
    'Your device keeps the passkey and asks for your fingerprint, face or PIN. The gateway never sees those.',
  joinAs: (name: string) => `Join as ${name}`,
  codes: 'Your recovery codes',
  codesLead:
    'Keep these where your device is not. With one of them you get in without a passkey; each works once. They are shown now and never again.',
  keptThem: 'I have kept them: go on',
  print: 'Print',

  refused: 'That did not work',
  passkeyAborted:
    'Your device did not give a passkey: it was cancelled, took too long, or has none for this address.',
  passkeyExists: 'This device has a passkey for you already.',
  passkeyImpossible: 'This browser offers no passkeys at this address. They need https, or http://localhost.',

  again: 'Show that it is you',
  againLead: 'This cannot be taken back, so it asks for your passkey again. What you typed is kept.',
  againPasskey: 'Use the passkey and send',
  againOther: 'No passkey at hand: sign in again in another tab, then come back here',
  againSend: 'I did, send it',
  againWithCode: 'Use the code',
  againDone: 'Thank you. Close this tab and go on in the one that you came from, within five minutes.',
}

const ar: typeof en = {
  signIn: 'تسجيل الدخول',
  signInLead: 'بمفتاح المرور المحفوظ على هذا الجهاز، أو على هاتفك أو مفتاح الأمان. لا توجد كلمات مرور.',
  withPasskey: 'الدخول بمفتاح المرور',
  asking: 'في انتظار جهازك…',
  lostPasskey: 'ليس لدي مفتاح مرور هنا',
  recoveryCode: 'رمز الاسترداد',
  recoveryHelp: 'أحد الرموز العشرة التي عُرضت عليك عند الانضمام. كل رمز يعمل مرة واحدة.',
  withCode: 'الدخول بالرمز',
  askOwner: 'نفدت رموزك؟ يستطيع مالك حسابك أن يرسل إليك رابطًا لمفتاح مرور جديد.',
  needsScript:
    'يحتاج مفتاح المرور إلى برنامج نصي، وهذا المتصفح لا يشغّله هنا. أما رمز الاسترداد فيعمل من دونه.',
  nobody: 'لم ينضم أحد إلى هذه البوابة بعد. نفّذ هذا الأمر على جهازها وافتح الرابط الذي يطبعه:',
  kept: 'ما كتبته محفوظ في هذه الصفحة، وستُسأل بعد تسجيل الدخول عن إرساله.',
  already: (name) => `أنت مسجّل الدخول باسم ${name}.`,
  goOn: 'إلى لوحة التحكم',
  back: 'عاد تسجيل دخولك',
  backLead: 'سُجّل دخولك من جديد، وما كتبته ما زال هنا. لم يُرسل شيء بعد.',
  sendNow: 'أرسله الآن',
  secretsGone: 'لا تُحفظ الأسرار: حيث كتبت سرًّا ستُسأل عنه مرة أخرى.',
  signedOut: 'سُجّل خروجك.',

  join: 'الانضمام',
  joinNeedsScript:
    'ينشئ الانضمام مفتاح مرور، وهذا يحتاج إلى برنامج نصي. اسمح به لهذه الصفحة أو افتح الرابط في متصفح آخر.',
  reading: 'تجري قراءة الدعوة…',
  noInvitation: 'افتح رابط الدعوة كاملًا: نهايته التي تلي # ناقصة.',
  invited: (role, account) => `أنت مدعو بصفة ${role} في الحساب «${account}».`,
  invitedAgain: 'تحصل بهذا الرابط على مفتاح مرور جديد، وتنتهي مفاتيحك السابقة وجلساتك المفتوحة.',
  yourName: 'اسمك',
  nameHelp: 'كما يراه الآخرون بجانب قراراتك.',
  makePasskey: 'أنشئ مفتاح مرور وانضم',
  whatPasskey: 'يحفظ جهازك مفتاح المرور ويطلب بصمتك أو وجهك أو رقمك السري. لا ترى البوابة شيئًا من ذلك.',
  joinAs: (name) => `انضم باسم ${name}`,
  codes: 'رموز الاسترداد الخاصة بك',
  codesLead:
    'احفظها في مكان غير جهازك. بأحدها تدخل من دون مفتاح مرور، وكل رمز يعمل مرة واحدة. تُعرض الآن ولن تُعرض ثانية.',
  keptThem: 'حفظتها، تابع',
  print: 'طباعة',

  refused: 'لم ينجح ذلك',
  passkeyAborted: 'لم يقدّم جهازك مفتاح مرور: أُلغي الطلب أو طال الوقت أو لا مفتاح لديه لهذا العنوان.',
  passkeyExists: 'لدى هذا الجهاز مفتاح مرور لك بالفعل.',
  passkeyImpossible:
    'لا يتيح هذا المتصفح مفاتيح المرور على هذا العنوان؛ فهي تحتاج إلى https أو http://localhost.',

  again: 'أثبت أنك أنت',
  againLead: 'هذا لا رجعة فيه، ولذلك يُطلب مفتاح مرورك من جديد. ما كتبته محفوظ.',
  againPasskey: 'استخدم مفتاح المرور وأرسل',
  againOther: 'ليس مفتاح المرور في متناولك: سجّل الدخول من جديد في تبويب آخر ثم عُد إلى هنا',
  againSend: 'فعلت ذلك، أرسل',
  againWithCode: 'استخدم الرمز',
  againDone: 'شكرًا لك. أغلق هذا التبويب وتابع في الذي جئت منه خلال خمس دقائق.',
}

/** `signInTexts[page.language]` */
export const signInTexts: Readonly<Record<Language, typeof en>> = { en, ar }
