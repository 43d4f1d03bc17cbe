// What `test` found in its files, and which exit code that is. Every format shows this and nothing else.
import type { TestReport } from '../../../schemas/commerce.ts'
import { testTransaction } from '../../commerce/rubric/report.ts'
import { CommandFailure, Exit } from '../exit.ts'
import { readSample } from '../transactions.ts'

export interface Judged {
  /** As it was named, or found in a folder; `-` is stdin. */
  readonly file: string
  /** What the file holds. */
  readonly text: string
  readonly report: TestReport
}

/** A file that is no sample, or cannot be read. */
export interface Faulty {
  readonly file: string
  readonly failure: CommandFailure
}

export interface Outcome {
  readonly files: readonly (Judged | Faulty)[]
  readonly minScore: number | undefined
}

export const isFaulty = (file: Judged | Faulty): file is Faulty => 'failure' in file

/** What is no transaction has nothing to score and passes nothing. */
export const isBelow = ({ report }: Judged, minScore: number | undefined): boolean =>
  minScore !== undefined && minScore > 0 && (!report.applicable || report.score < minScore)

/** One file that cannot be judged keeps no other from it. */
export async function judgeFiles(
  names: readonly string[],
  options: { readonly minScore: number | undefined; readonly evaluateAt: number | undefined },
): Promise<Outcome> {
  const files: (Judged | Faulty)[] = []
  for (const file of names) files.push(await judgeFile(file, options.evaluateAt))
  return { files, minScore: options.minScore }
}

async function judgeFile(file: string, evaluateAt: number | undefined): Promise<Judged | Faulty> {
  try {
    const { sample, text } = await readSample(file)
    const { evaluate_at: at, tool_annotations: annotations, ...transaction } = sample
    const report = testTransaction(transaction, {
      evaluateAt: evaluateAt ?? (at === undefined ? undefined : Date.parse(at)),
      annotations,
    })
    return { file, text, report }
  } catch (thrown) {
    if (thrown instanceof CommandFailure) return { file, failure: thrown }
    throw thrown
  }
}

/** The gravest first: a file that cannot be read, one that is no sample, a score that is too low. */
export function exitCodeOf({ files, minScore }: Outcome): number {
  const faults = files.filter(isFaulty).map(({ failure }) => failure.exitCode)
  if (faults.includes(Exit.usage)) return Exit.usage
  const [fault] = faults
  if (fault !== undefined) return fault
  return files.some((file) => !isFaulty(file) && isBelow(file, minScore)) ? Exit.failed : Exit.ok
}

/** Why a run failed, in one line for each file that did. */
export function listFailures({ files, minScore }: Outcome): string[] {
  return files.flatMap((file) => {
    if (isFaulty(file)) return [`${file.file}: ${firstLine(file.failure)}`]
    return isBelow(file, minScore) ? [`${file.file} ${describeShortfall(file, minScore)}.`] : []
  })
}

/** What is wrong; the lines behind it say what a sample is. */
export const firstLine = ({ message }: CommandFailure): string => message.split('\n')[0] ?? ''

export const describeShortfall = ({ report }: Judged, minScore: number | undefined): string =>
  report.applicable
    ? `scores ${report.score}, and --min-score asks for ${minScore}`
    : `is no transaction that can be scored, and --min-score asks for ${minScore}`
