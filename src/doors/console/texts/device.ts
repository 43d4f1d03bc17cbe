// Words of the page on which a person types the code that a program shows.
import type { Language } from '../../site/routes.ts'

const en = {
  title: 'Connect a program',
  lead: 'A program that has no browser of its own shows a code. Type it here; the next page says who asks, and you decide what it may do.',
  code: 'Code',
  codeHelp: 'Eight letters, with or without the dash.',
  filled:
    'This code came with the address that you opened. Go on only if you began this yourself, and your program shows the same code.',
  goOn: 'Go on',
  connected: 'Connected. Go back to the program: it goes on by itself within seconds.',
  refused: 'Refused. The program was told so, and got nothing.',
  another: 'Type another code',
  toConnections: 'See connections',
}

const ar: typeof en = {
  title: 'وصل برنامج',
  lead: 'البرنامج الذي لا متصفح له يعرض رمزًا. اكتبه هنا؛ وتقول لك الصفحة التالية من يطلب، وأنت تقرر ما يُسمح له به.',
  code: 'الرمز',
  codeHelp: 'ثمانية أحرف لاتينية، بالشرطة أو بدونها.',
  filled:
    'جاء هذا الرمز مع العنوان الذي فتحته. تابع فقط إن كنت أنت من بدأ ذلك، وكان برنامجك يعرض الرمز نفسه.',
  goOn: 'متابعة',
  connected: 'تم الوصل. عُد إلى البرنامج: سيتابع وحده خلال ثوانٍ.',
  refused: 'رُفض الطلب. أُبلغ البرنامج بذلك ولم ينل شيئًا.',
  another: 'كتابة رمز آخر',
  toConnections: 'عرض الاتصالات',
}

export const deviceTexts: Readonly<Record<Language, typeof en>> = { en, ar }
