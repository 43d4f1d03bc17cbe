// `permits`: one exact request, signed, to be executed once; and the person who approves it.
import type { Command } from 'commander'
import type { z } from 'zod'
import {
  type ActionRequest,
  type MandateTerms,
  MAX_WAIT_SECONDS,
  type PermitRecord,
} from '../../schemas/actions.ts'
import { APPROVAL_WINDOW_MS } from '../actions/ports.ts'
import { actionsApprove } from '../../tools/actions-approve.ts'
import { actionsPermitsEvidence } from '../../tools/actions-permits-evidence.ts'
import { actionsPermitsGet } from '../../tools/actions-permits-get.ts'
import { actionsPermitsList } from '../../tools/actions-permits-list.ts'
import { actionsPrepare } from '../../tools/actions-prepare.ts'
import { actionsRefuse } from '../../tools/actions-refuse.ts'
import { decodeUtf8 } from '../lib/utf8.ts'
import { connect } from './client.ts'
import { confirm } from './confirm.ts'
import { CommandFailure, Exit } from './exit.ts'
import { readInput } from './input.ts'
import { addTermOptions, readTerms, type TermOptions, termsOf } from './mandates.ts'
import {
  addConnectionOptions,
  addPageOptions,
  collect,
  type ConnectionOptions,
  pageOf,
  parseInteger,
  type PageOptions,
} from './options.ts'
import { formatRecord, formatValue, printJson, printLine, printPage, showText } from './output.ts'
import { decisionInWords, permitRow, preparerInWords } from './permit-words.ts'
import { addOutOption, deliverToken, type TokenKind } from './token-file.ts'

const COLUMNS = [
  'permit_id',
  'state',
  'method',
  'host',
  'mandate_id',
  'created_at',
  'expires_at',
  'decided_by',
  'attempt_id',
]
const PENDING_COLUMNS = ['permit_id', 'method', 'url', 'body_bytes', 'purpose', 'created_at', 'expires_at']

/** One that nobody waits for cannot be ended, and nothing is sent under it without its token. */
const PERMIT: TokenKind = {
  member: 'permit',
  ifLost: ({ permit_id: id, state, expires_at: end }) =>
    state === 'pending_approval'
      ? `End it: agent-gateway permits refuse ${formatValue(id)}`
      : `${formatValue(id)} ends by itself at ${formatValue(end)}.`,
}

/** The life of the one-off mandate that is made where none is named. */
const ONE_CALL = { max_calls: 1 } as const
const ONE_HOUR_MS = 3_600_000

type PrepareOptions = ConnectionOptions &
  TermOptions & {
    credential: string
    method: string
    header?: readonly string[]
    bodyFile?: string
    mandate?: string
    mandateFile?: string
    out?: string
  }

/** `permits prepare|list|show|evidence|approve|refuse`: one exact request each, signed before it is sent. */
export function addPermitCommands(program: Command): void {
  const permits = program
    .command('permits')
    .description('signed permits for one exact request each, and who approves them')

  const prepare = permits
    .command('prepare <https-url>')
    .description('judge one request under a mandate and sign a permit for it; nothing is sent')
    .requiredOption('--credential <credential-id>', 'the credential that the request will carry')
    .option('--method <method>', 'HTTP method', (text) => text.toUpperCase(), 'GET')
    .option('--header <name: value>', 'request header; repeatable', collect)
    .option('--body-file <file>', 'send exactly these bytes; - reads stdin')
    .option('--mandate <mandate-id>', 'a stored mandate')
    .option('--mandate-file <file>', 'the terms of a mandate as JSON; - reads stdin')
  addConnectionOptions(addOutOption(addTermOptions(prepare)))
    .addHelpText(
      'after',
      `
The request must lie inside a mandate: a stored one (--mandate), one from a file (--mandate-file), or one made of --purpose and the
options beside it, which default to no more than this request: its host, path and method, one call, and one hour (a day where a
person approves). The permit is shown once. Who holds it may execute this one request, once, within 300 seconds (from approval,
where a person approves), with the tool gateway.actions.execute: {"permit": …, "request": …}, the request exactly as it is given here.

Examples:
  agent-gateway permits prepare https://api.github.com/repos/acme/site/issues --method POST --credential cred_… \\
    --header "content-type: application/json" --body-file issue.json --mandate mdt_… --out issue.permit
  agent-gateway permits prepare https://api.stripe.com/v1/refunds --method POST --credential cred_… --body-file - \\
    --purpose "Refund of order 1027" --requires-approval < refund.form`,
    )
    .action(preparePermit)

  addPageOptions(addConnectionOptions(permits.command('list')))
    .description('list permits, newest first; never a permit itself')
    .option('--pending', 'only those that wait for approval, with what they would send')
    .action(listPermits)

  addConnectionOptions(permits.command('show <permit-id>'))
    .description('state of one permit and, while it waits for approval, exactly what will be sent')
    .option(
      '--wait <seconds>',
      'while it waits for people: answer when they have decided, after so many seconds at most',
      parseInteger(0, MAX_WAIT_SECONDS),
    )
    .action(async (id: string, options: ConnectionOptions & { wait?: number }) => {
      const client = await connect(options)
      const permit = await client.call(actionsPermitsGet, {
        permit_id: id,
        ...(options.wait !== undefined && { wait_seconds: options.wait }),
      })
      if (options.json) return printJson(permit)
      showPermit(permit)
      if (permit.summary !== null) printLine(`\n${showText(permit.summary.text)}`)
    })

  addConnectionOptions(permits.command('evidence <permit-id>'))
    .description('the request that was approved, as it was kept, and who approved it')
    .action(async (id: string, options: ConnectionOptions) => {
      const evidence = await (await connect(options)).call(actionsPermitsEvidence, { permit_id: id })
      if (options.json) return printJson(evidence)
      const { request, decisions, prepared_by, ...record } = evidence
      printLine(formatRecord({ ...record, prepared_by: preparerInWords(prepared_by) }))
      for (const decision of decisions) printLine(showText(decisionInWords(decision)))
      printLine(`\n${showText(request.text)}`)
    })

  addConnectionOptions(permits.command('approve <permit-id>'))
    .description('let one waiting permit be executed, within 300 seconds from now')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .addHelpText(
      'after',
      `
Shows exactly what will be sent and asks. A permit is approved or refused once; whoever holds it can then execute it.`,
    )
    .action(approvePermit)

  addConnectionOptions(permits.command('refuse <permit-id>'))
    .description('end one waiting permit; its mandate gets its share back')
    .action(async (id: string, options: ConnectionOptions) => {
      printDecided(await (await connect(options)).call(actionsRefuse, { permit_id: id }), options)
    })
}

async function preparePermit(url: string, options: PrepareOptions): Promise<void> {
  if (options.bodyFile === '-' && options.mandateFile === '-')
    throw new CommandFailure(Exit.usage, 'Only one of --body-file and --mandate-file can be stdin.')
  const input = {
    credential_id: options.credential,
    request: await readRequest(url, options),
    ...(await chooseMandate(url, options)),
  }
  const client = await connect(options)
  await deliverToken(options, PERMIT, () => client.call(actionsPrepare, input))
}

type GivenRequest = z.input<typeof ActionRequest>
type GivenMandate = { mandate_id: string } | { mandate: z.input<typeof MandateTerms> }

async function readRequest(url: string, options: PrepareOptions): Promise<GivenRequest> {
  const headers = (options.header ?? []).map(parseHeader)
  return {
    url,
    method: options.method as NonNullable<GivenRequest['method']>,
    ...(headers.length === 0 ? {} : { headers: joinHeaders(headers) }),
    ...(options.bodyFile === undefined ? {} : asText(await readInput('body', options.bodyFile))),
  }
}

function parseHeader(line: string): readonly [name: string, value: string] {
  const [, name, value] = /^([^:\s]+):[ \t]*(.*)$/.exec(line) ?? []
  if (name === undefined || value === undefined)
    throw new CommandFailure(Exit.usage, 'Write a header as "name: value".')
  return [name.toLowerCase(), value]
}

function joinHeaders(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const joined: Record<string, string> = {}
  for (const [name, value] of headers) {
    if (name in joined) throw new CommandFailure(Exit.usage, `The header ${name} is given twice.`)
    joined[name] = value
  }
  return joined
}

/** Byte for byte: as text where it is text. */
function asText(bytes: Buffer): { body: string } | { body_base64: string } {
  const body = decodeUtf8(bytes)
  return body === undefined ? { body_base64: bytes.toString('base64') } : { body }
}

async function chooseMandate(url: string, options: PrepareOptions): Promise<GivenMandate> {
  const terms = termsOf(options)
  if (options.mandate !== undefined) {
    if (options.mandateFile !== undefined || Object.keys(terms).length > 0)
      throw new CommandFailure(Exit.usage, 'A stored mandate has its own terms: leave the other options out.')
    return { mandate_id: options.mandate }
  }
  if (options.mandateFile !== undefined) return { mandate: await readTerms(options.mandateFile, options) }
  const { purpose } = terms
  if (purpose === undefined)
    throw new CommandFailure(
      Exit.usage,
      'A permit needs a mandate: --mandate, --mandate-file, or --purpose to make one for this request.',
    )
  return { mandate: { ...narrowest(url, options), ...terms, purpose } }
}

/** The request is read and nothing else. What is wrong with its URL is the gateway's to say. */
function narrowest(url: string, options: PrepareOptions): Omit<z.input<typeof MandateTerms>, 'purpose'> {
  const terms = termsOf(options)
  const { host = '', pathname = '/' } = URL.parse(url) ?? {}
  const isLimited = options.maxCalls !== undefined || options.maxCredits !== undefined
  return {
    credential_id: options.credential,
    host,
    path_prefix: pathname,
    methods: [options.method as NonNullable<GivenRequest['method']>],
    expires_at: new Date(
      Date.now() + (terms.requires_approval || terms.approval ? APPROVAL_WINDOW_MS : ONE_HOUR_MS),
    ).toISOString(),
    ...(isLimited ? {} : ONE_CALL),
  }
}

async function listPermits(options: ConnectionOptions & PageOptions & { pending?: boolean }): Promise<void> {
  const filter = options.pending ? { state: 'pending_approval' as const } : {}
  const answer = await (await connect(options)).call(actionsPermitsList, { ...pageOf(options), ...filter })
  if (!options.pending) return printPage(answer, answer.permits, COLUMNS, 'No permits.', options)
  const rows = answer.permits.map(({ summary, ...permit }) => ({
    ...permit,
    url: summary?.url,
    body_bytes: summary?.body_bytes,
    purpose: summary?.mandate.purpose,
  }))
  printPage(answer, rows, PENDING_COLUMNS, 'No permit waits for approval.', options)
}

async function approvePermit(id: string, options: ConnectionOptions & { yes?: boolean }): Promise<void> {
  const client = await connect(options)
  const { summary } = await client.call(actionsPermitsGet, { permit_id: id })
  // One that does not wait has nothing to show: the gateway says how it stands.
  if (summary !== null && !(options.json && options.yes)) {
    process.stderr.write(`${showText(summary.text)}\n\n`)
    if (!options.yes)
      await confirm(
        'Approve exactly this request?',
        `Nobody can be asked here: read \`permits show ${id}\`, then approve with --yes.`,
      )
  }
  printDecided(await client.call(actionsApprove, { permit_id: id }), options)
}

function printDecided(permit: PermitRecord, options: ConnectionOptions): void {
  if (options.json) printJson(permit)
  else showPermit(permit)
}

function showPermit(permit: PermitRecord): void {
  printLine(formatRecord(permitRow(permit)))
  for (const decision of permit.decisions) printLine(showText(decisionInWords(decision)))
}
