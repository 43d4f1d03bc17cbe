// The words of jobs that are not done here, English and Arabic, in the order in which they are tried.
import { CODE, FILES, FORMS, MESSAGING, POSTING, WRITING } from './acts.ts'
import type { JobWords } from './form.ts'
import { ANSWERING, CALCULATION, PURCHASE, REMINDERS } from './answers.ts'
import { CRAWLING, LIVE_DATA, MONITORING, SCREENSHOT, SEARCH } from './pages.ts'
import { ANALYSIS, FACT_CHECKING, IMAGES, OCR, SUMMARY, TRANSCRIPTION, TRANSLATION } from './texts.ts'

export { LANGUAGES, THINGS } from './names.ts'

export const JOB_WORDS: readonly JobWords[] = [
  TRANSLATION,
  SUMMARY,
  SCREENSHOT,
  MONITORING,
  CRAWLING,
  SEARCH,
  POSTING,
  MESSAGING,
  FACT_CHECKING,
  OCR,
  TRANSCRIPTION,
  ANALYSIS,
  WRITING,
  FORMS,
  FILES,
  IMAGES,
  CODE,
  PURCHASE,
  REMINDERS,
  CALCULATION,
  LIVE_DATA,
  ANSWERING,
]
