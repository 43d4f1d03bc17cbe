// Stands where a page is being built.
import { defineOpenPage } from '../ports.ts'
import { consoleTexts } from '../texts/common.ts'

export const page = defineOpenPage<Record<string, never>>({
  load: () => ({}),
  title: (_data, { language }) => consoleTexts[language].console,
  View: ({ page }) => <h1>{consoleTexts[page.language].console}</h1>,
})
