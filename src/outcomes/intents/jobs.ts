// Jobs that people ask for and that are not done here: what each is, why not, and what is nearest. Data only. The words by which they are
// recognised are in job-words/.
import type { OutcomeId } from '../../../schemas/outcome.ts'

export interface UndoneJob {
  /** A noun that starts a sentence. */
  readonly name: string
  /** What is not done, and what is done instead: sentences for people. */
  readonly why: string
  /** The capability that comes nearest to it. */
  readonly nearest: OutcomeId
  /** What follows in the same request needs its result: "log in and read my mail" is not the reading of a page. */
  readonly comesFirst?: boolean
  /** Asked for in questions, too: "is it positive or negative?" Other jobs in a question are what it is about. */
  readonly isAsked?: boolean
  /** A subject as often as a job: with an address in hand it is what the page is about. */
  readonly onlyWithoutSource?: boolean
  /** Only where nothing else is asked for: "what does this product cost" is no question to a language model. */
  readonly onlyAlone?: boolean
}

const EXTRACTION = 'web-extraction returns what the page itself says, word for word'

export const JOBS = {
  translation: {
    name: 'Translation',
    why: `Nothing is translated: ${EXTRACTION}, in its own language. Translate that yourself.`,
    nearest: 'web-extraction',
  },
  summary: {
    name: 'Summarising',
    why: `Nothing is summarised: ${EXTRACTION}, and with \`query\` the passages about a question come first. Summarise that yourself.`,
    nearest: 'web-extraction',
    isAsked: true,
  },
  screenshot: {
    name: 'A screenshot',
    why: `Pages are not drawn: no browser runs and no picture is made. ${EXTRACTION}.`,
    nearest: 'web-extraction',
    isAsked: true,
  },
  monitoring: {
    name: 'Monitoring',
    why: 'Sources are read once, when the request is paid: nothing is watched, repeated, or reported later. Send the same request again when you want to know.',
    nearest: 'web-extraction',
    comesFirst: true,
  },
  crawling: {
    name: 'Crawling a site',
    why: 'Links are not followed: a request reads at most three addresses, and each must be named. web-extraction lists the links of a page, from which you choose.',
    nearest: 'web-extraction',
    comesFirst: true,
  },
  search: {
    name: 'Searching the web',
    why: 'Nothing is searched for: name the addresses yourself. With `query`, web-extraction finds the passages of pages that you name.',
    nearest: 'web-extraction',
    comesFirst: true,
  },
  posting: {
    name: 'Posting',
    why: 'Sources are only read: nothing is posted, shared, rated or changed anywhere.',
    nearest: 'web-extraction',
  },
  messaging: {
    name: 'Sending messages',
    why: 'The result is the answer to your own request: it is sent to nobody else.',
    nearest: 'web-extraction',
  },
  fact_checking: {
    name: 'Fact-checking',
    why: `Nobody judges here whether something is true: ${EXTRACTION}, with digests that prove what was said.`,
    nearest: 'web-extraction',
    isAsked: true,
  },
  ocr: {
    name: 'Reading text in images',
    why: 'Images are not read: text must be text in the page, not in a picture of it.',
    nearest: 'web-extraction',
    isAsked: true,
    comesFirst: true,
  },
  transcription: {
    name: 'Transcription',
    why: 'Sound and video are not listened to: only text that stands in a page is read, so name a page that holds the transcript.',
    nearest: 'web-extraction',
    isAsked: true,
    comesFirst: true,
  },
  analysis: {
    name: 'Analysis and classification',
    why: `Text is not judged, rated, sorted or interpreted: ${EXTRACTION}. Analyse that yourself.`,
    nearest: 'web-extraction',
    isAsked: true,
  },
  writing: {
    name: 'Writing',
    why: `No text is written or rewritten, because this is not a language model: ${EXTRACTION}.`,
    nearest: 'web-extraction',
  },
  answering: {
    name: 'Answering from general knowledge',
    why: 'This is not a language model and knows nothing by itself. Name the page that should say it, and its passages about your question come first.',
    nearest: 'web-extraction',
    onlyWithoutSource: true,
    onlyAlone: true,
  },
  live_data: {
    name: 'Live data',
    why: 'There is no source for weather, scores, rates or quotes. Name the page that states it.',
    nearest: 'web-extraction',
    onlyWithoutSource: true,
  },
  forms: {
    name: 'Signing in, forms and clicks',
    why: 'Public pages are read as they are served: nobody signs in, fills in a form or clicks.',
    nearest: 'web-extraction',
    comesFirst: true,
  },
  files: {
    name: 'Making and downloading files',
    why: 'The result is JSON with text and Markdown: no file is downloaded, converted or stored anywhere.',
    nearest: 'web-extraction',
  },
  images: {
    name: 'Looking at images',
    why: 'Images are not looked at, compared or made: pages give their addresses and alternative texts.',
    nearest: 'web-extraction',
    isAsked: true,
  },
  code: {
    name: 'Running or writing code',
    why: 'No code is run, written or corrected.',
    nearest: 'extract-preview',
    comesFirst: true,
  },
  purchase: {
    name: 'Buying and booking',
    why: 'Nothing is bought, ordered or booked: product-offers returns what shop pages state of their offers.',
    nearest: 'product-offers',
  },
  calculation: {
    name: 'Calculating',
    why: 'Nothing is calculated or converted.',
    nearest: 'extract-preview',
    onlyWithoutSource: true,
  },
  reminders: {
    name: 'Reminders and calendars',
    why: 'Nothing is remembered for later: a request is answered once.',
    nearest: 'extract-preview',
  },
  topic: {
    name: 'News about one topic',
    why: 'Entries are not chosen by topic, and the default feeds are about technology in general. Name feeds about your topic in `urls`; all their entries are returned.',
    nearest: 'feed-digest',
  },
} as const satisfies Record<string, UndoneJob>

export type JobId = keyof typeof JOBS

export const jobOf = (id: JobId): UndoneJob => JOBS[id]
