// Words of the page about the identity provider.
import type { Language } from '../../site/routes.ts'

const en = {
  title: 'Identity provider',
  lead: 'People of your organisation sign in with what they have there: Keycloak, Entra, Okta, Google, any that speaks OpenID Connect. Passkeys go on working.',
  none: 'None is set.',
  offered: 'Offered on the sign-in page',
  off: 'Set, and not offered',
  register: 'At the provider',
  registerHelp: 'Make a web client there (authorization code) and register this address for its answers.',
  redirectUri: 'Redirect address',
  settings: 'Here',
  name: 'Words on the button',
  nameHelp: 'For example: Acme single sign-on',
  issuer: 'Issuer',
  issuerHelp: 'Its metadata is read below /.well-known/openid-configuration.',
  clientId: 'Client id',
  clientSecret: 'Client secret',
  secretHelp: 'Sealed, and never shown again.',
  secretKept: 'One is stored. Leave this empty to keep it.',
  isPublic: 'This client has no secret',
  scopes: 'Scopes',
  groupsClaim: 'Claim with the groups',
  groupsHelp: 'In the id token, or at the userinfo endpoint.',
  roles: 'Roles of groups',
  rolesHelp:
    'One a line: group = owner, operator, approver, seller or auditor. Of several the one that may most counts.',
  defaultRole: 'Who is in none of them',
  nobody: 'is not let in',
  enabled: 'Offer it on the sign-in page',
  checked:
    'When you save, its metadata is read first; a mistake is told here. Roles are taken from it at each sign-in; the last owner stays one.',
  said: { saved: 'Saved. Try it in another browser before you sign out of this one.' },
}
const ar: typeof en = {
  title: 'مزوّد الهوية',
  lead: 'يسجّل أفراد مؤسستك الدخول بما لديهم هناك: Keycloak أو Entra أو Okta أو Google أو أي مزوّد يدعم OpenID Connect. وتبقى مفاتيح المرور تعمل.',
  none: 'لم يُضبط أي مزوّد.',
  offered: 'معروض في صفحة تسجيل الدخول',
  off: 'مضبوط وغير معروض',
  register: 'لدى المزوّد',
  registerHelp: 'أنشئ هناك عميل ويب (رمز التفويض) وسجّل هذا العنوان لردوده.',
  redirectUri: 'عنوان إعادة التوجيه',
  settings: 'هنا',
  name: 'نص الزر',
  nameHelp: 'مثلًا: الدخول الموحد لشركة Acme',
  issuer: 'المُصدر',
  issuerHelp: 'تُقرأ بياناته الوصفية تحت ‎/.well-known/openid-configuration.',
  clientId: 'معرّف العميل',
  clientSecret: 'سر العميل',
  secretHelp: 'يُختم ولا يُعرض ثانية.',
  secretKept: 'السر محفوظ. اترك الحقل فارغًا لإبقائه.',
  isPublic: 'لا سر لهذا العميل',
  scopes: 'النطاقات',
  groupsClaim: 'الحقل الذي يحمل المجموعات',
  groupsHelp: 'في رمز الهوية أو في نقطة userinfo.',
  roles: 'أدوار المجموعات',
  rolesHelp:
    'سطر لكل مجموعة: group = owner أو operator أو approver أو seller أو auditor. ومن عدة أدوار يُعتد بالأوسع.',
  defaultRole: 'من ليس في أي منها',
  nobody: 'لا يُسمح له بالدخول',
  enabled: 'اعرضه في صفحة تسجيل الدخول',
  checked:
    'عند الحفظ تُقرأ بياناته الوصفية أولًا ويُذكر الخطأ هنا. تؤخذ الأدوار منه عند كل دخول، ويبقى آخر مالك مالكًا.',
  said: { saved: 'حُفظ. جرّبه في متصفح آخر قبل أن تخرج من هذا.' },
}

/** `providerTexts[page.language]` */
export const providerTexts: Readonly<Record<Language, typeof en>> = { en, ar }
