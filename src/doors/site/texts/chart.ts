// Words around every chart.
import type { Language } from '../routes.ts'

const en = {
  numbers: 'The numbers',
  at: 'When',
  source: 'Where they come from',
  empty: 'Nothing to draw yet.',
}

const ar: typeof en = {
  numbers: 'الأرقام',
  at: 'الوقت',
  source: 'مصدر الأرقام',
  empty: 'لا بيانات للرسم بعد.',
}

export const chartTexts: Readonly<Record<Language, typeof en>> = { en, ar }
