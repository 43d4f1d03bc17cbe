// Transactions in files, for `test` and `inspect`. Sample files carry more than a transaction (where it comes from, what is
// expected of it): that is left out.
import { z } from 'zod'
import { transactionFields } from '../../schemas/commerce.ts'
import { testTransaction } from '../../tools/test.ts'
import { GatewayError } from '../core/errors.ts'
import { describeIssues } from '../core/validation-issues.ts'
import { parseJson } from '../lib/json.ts'
import { decodeUtf8Document } from '../lib/utf8.ts'
import { OperatorJsonFault, parseOperatorJson } from '../lib/operator-json.ts'
import { CommandFailure, Exit } from './exit.ts'
import { readInput } from './input.ts'

const Transaction = z.object(transactionFields)
/** The input may have `evaluate_at` and `tool_annotations`, as POST /v1/test takes them. */
const Sample = z.object(testTransaction.input.shape)

/** @throws {CommandFailure} with Exit.data when the file holds no transaction */
export const readTransaction = (file: string) => read(file, Transaction)
/** @throws {CommandFailure} with Exit.data when the file holds no sample */
export const readSample = (file: string) => read(file, Sample)

async function read<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  const value = parse(await readInput('sample', file))
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
    throw unreadable(isDeep ? 'it is nested too deeply' : NO_JSON)
  }
}

const NO_JSON = 'it is not JSON in UTF-8'

const unreadable = (why: string) =>
  new CommandFailure(
    Exit.data,
    `The file is no sample of a transaction: ${why}.\nA sample is {"target", "method", "headers", "body"}; \`test --help\` says more.`,
    { code: 'invalid_sample', detail: why, exit_code: Exit.data },
  )
