// How the words of a job that is not done here are kept.
import type { JobId } from '../jobs.ts'

/** One word or phrase an entry. */
export interface JobWords {
  readonly job: JobId
  /** Nouns for it, anywhere in the sentence, with their endings. */
  readonly things?: readonly string[]
  /** Verbs, anywhere, with their endings. */
  readonly acts?: readonly string[]
  /** Arabic imperatives, anywhere, with the letters of every person. */
  readonly verbs?: readonly string[]
  /** Words in a row, as README.md has them. */
  readonly phrases?: readonly string[]
}
