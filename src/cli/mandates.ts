// `mandates`: what an operator allows to be asked for, and how often.
import { type Command, Option } from 'commander'
import type { z } from 'zod'
import type { MandateTerms } from '../../schemas/actions.ts'
import { actionsMandatesCreate } from '../../tools/actions-mandates-create.ts'
import { actionsMandatesList } from '../../tools/actions-mandates-list.ts'
import { actionsMandatesRevoke } from '../../tools/actions-mandates-revoke.ts'
import { isObject } from '../lib/json.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { parseInput, readInput } from './input.ts'
import {
  addConnectionOptions,
  addPageOptions,
  type ConnectionOptions,
  pageOf,
  type PageOptions,
  parseDuration,
  parseInteger,
} from './options.ts'
import { printPage, printRecord } from './output.ts'

/** The terms as the gateway takes them; it is the gateway that says what is wrong in them. */
type GivenTerms = z.input<typeof MandateTerms>

const COLUMNS = [
  'mandate_id',
  'purpose',
  'credential_id',
  'host',
  'path_prefix',
  'methods',
  'calls',
  'max_calls',
  'credits',
  'max_credits',
  'requires_approval',
  'approval',
  'expires_at',
  'revoked_at',
]

/** The terms of a mandate as options. */
export interface TermOptions {
  readonly purpose?: string
  readonly host?: string
  readonly pathPrefix?: string
  readonly methods?: readonly string[]
  readonly maxCalls?: number
  readonly maxCredits?: number
  readonly expiresIn?: number
  readonly requiresApproval?: boolean
  readonly approvalBy?: 'anyone' | 'another'
  readonly approvers?: number
  readonly freshSignIn?: boolean
}

type CreateOptions = ConnectionOptions & TermOptions & { credential?: string; mandateFile?: string }

/** `mandates create|list|revoke`: what permits may be asked for, how often and until when. */
export function addMandateCommands(program: Command): void {
  const mandates = program
    .command('mandates')
    .description('what may be asked for with permits, how often and until when')

  addTermOptions(addConnectionOptions(mandates.command('create')))
    .description('store a mandate; the same terms again are the same mandate, with what is used of it')
    .option('--credential <credential-id>', 'the credential that its permits use')
    .option('--mandate-file <file>', 'all terms as JSON instead of options; - reads stdin')
    .addHelpText(
      'after',
      `
Example:
  agent-gateway mandates create --purpose "Refunds approved by support" --credential cred_… --host api.stripe.com \\
    --path-prefix /v1/refunds --methods POST --max-calls 20 --expires-in 7d --requires-approval`,
    )
    .action(async (options: CreateOptions) => {
      const terms =
        options.mandateFile === undefined
          ? completeTerms({ ...termsOf(options), ...credentialOf(options) })
          : await readTerms(options.mandateFile, options)
      printRecord(await (await connect(options)).call(actionsMandatesCreate, terms), options)
    })

  addPageOptions(addConnectionOptions(mandates.command('list')))
    .description('list mandates with their limits and what is used of them, newest first')
    .action(async (options: ConnectionOptions & PageOptions) => {
      const answer = await (await connect(options)).call(actionsMandatesList, pageOf(options))
      printPage(answer, answer.mandates, COLUMNS, 'No mandates.', options)
    })

  addConnectionOptions(mandates.command('revoke <mandate-id>'))
    .description('end a mandate and every permit of it that was not executed, at once and for good')
    .action(async (id: string, options: ConnectionOptions) => {
      printRecord(await (await connect(options)).call(actionsMandatesRevoke, { mandate_id: id }), options)
    })
}

/** Adds the options that name a mandate's terms; `termsOf` reads them. */
export const addTermOptions = (command: Command): Command =>
  command
    .option('--purpose <text>', 'what it is for; whoever approves a permit reads it')
    .option('--host <name>', 'exact host that requests may go to')
    .option('--path-prefix <prefix>', 'path prefix below which requests may go')
    .option('--methods <list>', 'HTTP methods, comma-separated: GET,POST', parseMethods)
    .option('--max-calls <n>', 'executions over all its permits together', parseInteger(1, 1_000_000))
    .option('--max-credits <n>', 'credits over all its permits together', parseInteger(1, 1_000_000_000))
    .option('--expires-in <time>', 'life of the mandate: 1h, 7d; 90 days at most', parseDuration)
    .option('--requires-approval', 'a person approves every permit before it can be executed')
    .addOption(
      new Option('--approval-by <who>', 'who approves: another than whoever prepared it, signed in').choices([
        'anyone',
        'another',
      ]),
    )
    .option('--approvers <n>', 'different people who have to approve: 1 or 2', parseInteger(1, 2))
    .option('--fresh-sign-in', 'whoever approves shows again, with their passkey, that it is them')

const parseMethods = (text: string): readonly string[] =>
  text.split(',').map((method) => method.trim().toUpperCase())

/** Members that were given are sent, and no others. */
export function termsOf(options: TermOptions): Partial<GivenTerms> {
  const { purpose, host, pathPrefix, methods, maxCalls, maxCredits, expiresIn, requiresApproval } = options
  const { approvalBy: by, approvers: people, freshSignIn: fresh_sign_in } = options
  const rule = {
    ...(by !== undefined && { by }),
    ...(people !== undefined && { people }),
    ...(fresh_sign_in !== undefined && { fresh_sign_in }),
  }
  return {
    ...(purpose === undefined ? {} : { purpose }),
    ...(host === undefined ? {} : { host }),
    ...(pathPrefix === undefined ? {} : { path_prefix: pathPrefix }),
    // The gateway refuses what is no method, with the list of those that are.
    ...(methods === undefined ? {} : { methods: [...methods] as GivenTerms['methods'] }),
    ...(maxCalls === undefined ? {} : { max_calls: maxCalls }),
    ...(maxCredits === undefined ? {} : { max_credits: maxCredits }),
    ...(expiresIn === undefined ? {} : { expires_at: new Date(Date.now() + expiresIn * 1000).toISOString() }),
    ...(requiresApproval === undefined ? {} : { requires_approval: requiresApproval }),
    ...(Object.keys(rule).length === 0 ? {} : { approval: rule }),
  }
}

const credentialOf = ({ credential }: { credential?: string }) =>
  credential === undefined ? {} : { credential_id: credential }

/** Everything a stored mandate needs; said in options, before anything is asked of the gateway. */
function completeTerms(terms: Partial<GivenTerms>): GivenTerms {
  const { purpose, credential_id, host, methods, expires_at, max_calls, max_credits } = terms
  const missing = [
    purpose === undefined && '--purpose',
    credential_id === undefined && '--credential',
    host === undefined && '--host',
    methods === undefined && '--methods',
    max_calls === undefined && max_credits === undefined && '--max-calls or --max-credits',
    expires_at === undefined && '--expires-in',
  ].filter((option) => option !== false)
  if (missing.length > 0)
    throw new CommandFailure(Exit.usage, `A mandate needs ${missing.join(', ')} (or --mandate-file).`)
  return terms as GivenTerms
}

/** @throws {CommandFailure} when the file is no JSON object, or terms were given as options too */
export async function readTerms(file: string, options: TermOptions): Promise<GivenTerms> {
  if (Object.keys(termsOf(options)).length > 0)
    throw new CommandFailure(
      Exit.usage,
      'Give the terms of a mandate as options or as --mandate-file, not both.',
    )
  const text = (await readInput('mandate', file)).toString('utf8')
  const document = parseInput(file, text)
  if (!isObject(document))
    throw new CommandFailure(
      Exit.usage,
      `${file} holds no JSON object: expected purpose, credential_id, host …`,
    )
  return document as GivenTerms
}
