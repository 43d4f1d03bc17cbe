// Transactions in files, for `test` and `inspect`. Sample files carry more than a transaction (where it comes from, what is
// expected of it): that is left out.
import { z } from 'zod'
import { transactionFields } from '../../schemas/commerce.ts'
import { testTransaction } from '../../tools/test.ts'
import { GatewayError } from '../core/errors.ts'
import { describeIssues } from '../core/validation-issues.ts'
import { parseJson } from '../lib/json.ts'
import { placeOfJsonFault } from '../lib/json-fault.ts'
import { decodeUtf8Document } from '../lib/utf8.ts'
import { OperatorJsonFault, parseOperatorJson } from '../lib/operator-json.ts'
import { CommandFailure, Exit } from './exit.ts'
import { readInput } from './input.ts'

const Transaction = z.object(transactionFields)
/** The input may have `evaluate_at` and `tool_annotations`, as POST /v1/test takes them. */
const Sample = z.object(testTransaction.input.shape)

/** @throws {CommandFailure} with Exit.data when the file holds no transaction */
export const readTransaction = (file: string) => read(file, Transaction)
/** A sample, and the text that it was read from: findings have their places in that. */
export interface SampleText {
  readonly sample: z.infer<typeof Sample>
  readonly text: string
}

/** @throws {CommandFailure} with Exit.data when the file holds no sample, Exit.usage when it cannot be read */
export async function readSample(file: string): Promise<SampleText> {
  const bytes = await readInput('sample', file)
  return { sample: check(bytes, Sample), text: decodeUtf8Document(bytes) ?? '' }
}

const read = async <T>(file: string, schema: z.ZodType<T>): Promise<T> =>
  check(await readInput('sample', file), schema)

function check<T>(bytes: Buffer, schema: z.ZodType<T>): T {
  const value = parse(bytes)
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = describeIssues(parsed.error.issues, value)
  throw unreadable(
    problems.map(({ pointer, message }) => `${pointer || 'the sample'}: ${message}`).join('; '),
  )
}

function parse(bytes: Buffer): unknown {
  const text = decodeUtf8Document(bytes)
  if (text === undefined) throw unreadable(NO_JSON)
  try {
    parseJson(text)
    return parseOperatorJson(text)
  } catch (thrown) {
    if (thrown instanceof OperatorJsonFault) throw unreadable(`it ${thrown.message}`)
    const isDeep = thrown instanceof GatewayError && thrown.code === 'json_too_deep'
    const place = isDeep ? undefined : placeOfFault(text)
    throw unreadable(
      isDeep ? 'it is nested too deeply' : place === undefined ? NO_JSON : `${NO_JSON}: look at ${place}`,
    )
  }
}

/** @returns where the text stops being JSON, in words */
function placeOfFault(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (thrown) {
    return placeOfJsonFault(text, thrown)
  }
}

const NO_JSON = 'it is not JSON in UTF-8'

const unreadable = (why: string) =>
  new CommandFailure(
    Exit.data,
    `The file is no sample of a transaction: ${why}.\nA sample is {"target", "method", "headers", "body"}; \`test --help\` says more.`,
    { code: 'invalid_sample', detail: why, exit_code: Exit.data },
  )
