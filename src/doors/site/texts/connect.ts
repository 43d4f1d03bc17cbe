// How each assistant is connected, in words; the lines themselves are in connections.ts.
import type { Language } from '../routes.ts'

const en = {
  label: 'Choose your client',
  lead: 'Every line has the address of this gateway in it. Free and paid tools need no account; where a secret is used, the agent carries a {capability}.',
  capability: 'capability',
  signIn:
    'To let an assistant use your own credentials, give it the address {address} instead: it opens a page of this gateway, and you decide there what it may do.',
  how: {
    'claude-code': 'Run this in a terminal.',
    'claude-desktop':
      'Settings, Developer, Edit Config. It starts a local program that bridges to this gateway.',
    'claude-desktop-remote': 'Settings, Connectors, Add custom connector: give it a name and this address.',
    chatgpt:
      'Settings, Apps & Connectors, Advanced: turn on developer mode. Then Create, and give it this address.',
    codex: 'Run this in a terminal, or write the lines into the file.',
    cursor: 'Open it in Cursor, or write the file.',
    vscode: 'Open it in VS Code, run the command, or write the file.',
    gemini: 'Run this in a terminal.',
    a2a: 'A client needs the address alone; the signed card says the rest.',
    curl: 'Nothing to install: the free sample, over REST and over MCP.',
  },
  openIn: 'Open in {program}',
  terminal: 'Terminal',
  addressLabel: 'Address',
  notPublic:
    'This gateway answers on this computer alone, and ChatGPT connects from the internet: serve it at a public https address first.',
  paths: 'Put the path of your installation in place of /path/to.',
  more: 'More about {topic}',
}

const ar: typeof en = {
  label: 'اختر عميلك',
  lead: 'كل سطر يتضمن عنوان هذه البوابة. لا تحتاج الأدوات المجانية والمدفوعة إلى حساب، وحيث يُستخدم سرٌّ يحمل الوكيل {capability}.',
  capability: 'صلاحية محدودة',
  signIn:
    'ولكي يستخدم مساعدٌ بيانات اعتمادك أعطه العنوان {address} بدلًا منه: سيفتح صفحة من هذه البوابة تقرر فيها ما يحق له.',
  how: {
    'claude-code': 'نفّذ هذا السطر في الطرفية.',
    'claude-desktop': 'الإعدادات، ثم Developer، ثم Edit Config. يُشغَّل برنامج محلي يصل التطبيق بهذه البوابة.',
    'claude-desktop-remote': 'الإعدادات، ثم Connectors، ثم Add custom connector: أدخل اسمًا وهذا العنوان.',
    chatgpt:
      'الإعدادات، ثم Apps & Connectors، ثم Advanced: فعّل وضع المطوّر، ثم اختر Create وأدخل هذا العنوان.',
    codex: 'نفّذ هذا السطر في الطرفية، أو اكتب الأسطر في الملف.',
    cursor: 'افتحه في Cursor أو اكتب الملف.',
    vscode: 'افتحه في VS Code، أو نفّذ الأمر، أو اكتب الملف.',
    gemini: 'نفّذ هذا السطر في الطرفية.',
    a2a: 'يكفي العميلَ العنوانُ وحده، والبطاقة الموقّعة تخبره بالباقي.',
    curl: 'لا شيء يُثبَّت: العيّنة المجانية عبر REST وعبر MCP.',
  },
  openIn: 'افتح في {program}',
  terminal: 'الطرفية',
  addressLabel: 'العنوان',
  notPublic:
    'تعمل هذه البوابة على هذا الجهاز وحده، بينما يتصل ChatGPT من الإنترنت: انشرها أولًا على عنوان https عام.',
  paths: 'ضع مسار التثبيت لديك مكان \u2066/path/to\u2069.',
  more: 'المزيد عن {topic}',
}

/** `connectTexts[page.language]` */
export const connectTexts: Readonly<Record<Language, typeof en>> = { en, ar }
export type ConnectTexts = typeof en
