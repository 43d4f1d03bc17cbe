// Words of the pages that call any tool.
import type { Language } from '../../site/routes.ts'

const en = {
  lead: 'All that your role may do, as forms made from the same definitions as the API and the command line. What you send is done in your name.',
  changes: 'changes something',
  sure: 'I know that this changes something that cannot be taken back.',
  doIt: 'Do it',
  toolsets: {
    web: 'Web',
    payments: 'Payments',
    egress: 'Egress',
    commerce: 'Commerce',
    email: 'E-mail',
    market: 'Market',
    operator: 'Operation',
  },
}

const ar: typeof en = {
  lead: 'كل ما يسمح به دورك، في نماذج مبنية على التعريفات نفسها التي تقوم عليها الواجهة البرمجية وسطر الأوامر. وما ترسله يُنفَّذ باسمك.',
  changes: 'يغيّر شيئًا',
  sure: 'أعلم أن هذا يغيّر شيئًا لا يمكن التراجع عنه.',
  doIt: 'نفّذ',
  toolsets: {
    web: 'الويب',
    payments: 'المدفوعات',
    egress: 'الطلبات الصادرة',
    commerce: 'التجارة',
    email: 'البريد',
    market: 'السوق',
    operator: 'التشغيل',
  },
}

export const toolsTexts: Readonly<Record<Language, typeof en>> = { en, ar }
