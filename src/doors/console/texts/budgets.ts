// Words of budgets.
import type { Language } from '../../site/routes.ts'

const en = {
  legend: 'Budgets',
  hint: 'Most in one period (UTC). An empty cell is no limit. Everybody who uses it counts together.',
  units: { calls: 'Calls', credits: 'Credits', usdc: 'USDC' } as Readonly<Record<string, string>>,
  per: { hour: 'an hour', day: 'a day', month: 'a month', total: 'in all' } as Readonly<
    Record<string, string>
  >,
}

const ar: typeof en = {
  legend: 'حدود الاستهلاك',
  hint: 'أقصى ما يُستهلك في الفترة الواحدة (بالتوقيت العالمي). الخانة الفارغة تعني بلا حد. يُحسب استهلاك الجميع معًا.',
  units: { calls: 'طلبات', credits: 'أرصدة', usdc: 'USDC' },
  per: { hour: 'في الساعة', day: 'في اليوم', month: 'في الشهر', total: 'إجمالًا' },
}

/** `budgetTexts[page.language]` */
export const budgetTexts: Readonly<Record<Language, typeof en>> = { en, ar }
