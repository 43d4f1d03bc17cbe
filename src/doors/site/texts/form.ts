// Words of forms that are made from a schema.
import type { Language } from '../routes.ts'

const en = {
  isEnglish: true,
  required: 'required',
  more: '{n} further fields',
  rest: 'Further members',
  restHint: 'A JSON object: members that the form has no field for.',
  rowName: 'Name',
  rowValue: 'Value',
  addRow: 'Add a row',
  unsaid: 'not said',
  usually: '{value} (default)',
  between: 'From {min} to {max}.',
  characters: 'At most {n} characters.',
  lines: 'One a line.',
  items: 'At most {n}.',
  json: 'JSON',
  notJson: 'This is not valid JSON.',
}

const ar: typeof en = {
  isEnglish: false,
  required: 'مطلوب',
  more: 'حقول أخرى ({n})',
  rest: 'عناصر إضافية',
  restHint: 'كائن JSON يضم ما لا حقل له في النموذج.',
  rowName: 'الاسم',
  rowValue: 'القيمة',
  addRow: 'أضف صفًّا',
  unsaid: 'غير محدد',
  usually: '{value} (افتراضي)',
  between: 'من {min} إلى {max}.',
  characters: '{n} حرفًا على الأكثر.',
  lines: 'عنصر في كل سطر.',
  items: '{n} على الأكثر.',
  json: 'JSON',
  notJson: 'هذا ليس JSON صحيحًا.',
}

export type FormTexts = typeof en

/** `formTexts[page.language]` */
export const formTexts: Readonly<Record<Language, FormTexts>> = { en, ar }
