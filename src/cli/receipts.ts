// `receipts`: reading one from the gateway, and proving one to yourself without trusting the gateway.
import type { Command } from 'commander'
import { JWS_TYPES, type JwsVerdict, verifyJws } from '../receipts/types.ts'
import { receiptsGet } from '../../tools/receipts-get.ts'
import { connect } from './client.ts'
import { CommandFailure, Exit } from './exit.ts'
import { addConnectionOptions, type ConnectionOptions } from './options.ts'
import { formatRecord, printJson, printLine } from './output.ts'
import { COMPACT_JWS, KEYS_PATH, parseJsonOrUndefined, readKeys, readText } from './published-keys.ts'

/** Why a document is not a receipt of ours, for the person who was handed it. */
const WHY: Record<Extract<JwsVerdict, { ok: false }>['reason'], string> = {
  malformed: 'it is not a compact JWS with a JSON payload',
  wrong_type: `its typ header is not ${JWS_TYPES.receipt}: it may be a quote, a permit or another signed document`,
  wrong_algorithm: 'it is not signed with EdDSA',
  unknown_key:
    'none of the given keys has its key id: it is from another gateway, or the key document is too old',
  bad_signature: 'the signature does not fit: the receipt was altered or forged',
  key_revoked:
    'the key that signed it was revoked, so anybody may have written it. If the gateway gave it to you, `receipts show` with its ' +
    'id fetches it signed anew',
  issued_after_retirement: 'it claims to be younger than the retirement of the key that signed it',
  not_canonical:
    'it is not written in the one way in which gateways write (RFC 8785, base64url without padding): no gateway signs that',
}

const SANDBOX_WARNING =
  'SANDBOX RECEIPT: test money and test keys only. It proves that a sandbox answered, and nothing about real money.'

type VerifyOptions = ConnectionOptions & { keys?: string }

/** `receipts show|verify`; verifying works offline with saved keys. Exit code 1 where a receipt does not verify. */
export function addReceiptCommands(program: Command): void {
  const receipts = program.command('receipts').description('signed receipts of charged actions')

  addConnectionOptions(receipts.command('show <receipt-id>'))
    .description('read a receipt; whoever holds its id may, so no service key is sent')
    .action(showReceipt)

  addConnectionOptions(receipts.command('verify <file>'))
    .description('check type, algorithm, key, signature and canonical form; print what the receipt attests')
    .option('--keys <file>', `published keys (JWKS) saved from ${KEYS_PATH}: verifies offline`)
    .addHelpText(
      'after',
      `
FILE is a receipt as the gateway gave it: the compact JWS, the JSON around it ({receipt_id, url, jws}), a whole answer with a
\`receipt\` in it, or what \`receipts show\` prints. - reads stdin. Without --keys the keys are fetched from the gateway; no service key is sent.
Exit code 0: it verifies. 1: it does not, and why is printed.

Examples:
  agent-gateway receipts verify receipt.json
  curl -s https://gateway.example/.well-known/gateway-egress-key.json > keys.json
  agent-gateway receipts verify receipt.json --keys keys.json`,
    )
    .action(verifyReceipt)
}

async function showReceipt(id: string, options: ConnectionOptions): Promise<void> {
  const receipt = await (await connect(options)).call(receiptsGet, { receipt_id: id }, null)
  if (options.json) return printJson(receipt)
  const { claims, jws, ...envelope } = receipt
  printLine(formatRecord(envelope))
  printLine(`\n${formatRecord(claims)}\n\n${jws}`)
}

async function verifyReceipt(file: string, options: VerifyOptions): Promise<void> {
  const jws = findJws(await readText(file))
  const keys = await readKeys(options)
  const verdict = await verifyJws(jws, keys, JWS_TYPES.receipt)
  if (!verdict.ok)
    throw new CommandFailure(
      Exit.failed,
      `This receipt does NOT verify: ${WHY[verdict.reason]}. Do not rely on it; ask for it anew where it came from.`,
      {
        verified: false,
        reason: verdict.reason,
        detail: WHY[verdict.reason],
      },
    )
  const warning = verdict.payload['environment'] === 'sandbox' ? { warning: SANDBOX_WARNING } : {}
  if (options.json)
    printJson({
      verified: true,
      ...warning,
      typ: JWS_TYPES.receipt,
      kid: verdict.kid,
      receipt: verdict.payload,
    })
  else {
    if (warning.warning !== undefined) printLine(`${warning.warning}\n`)
    printLine(`This receipt verifies: signed by key ${verdict.kid}, unaltered. It attests:\n`)
    printLine(formatRecord(verdict.payload))
  }
}

/** The JWS in whatever the receipt came in. */
export function findJws(text: string): string {
  const trimmed = text.trim()
  if (trimmed === '')
    throw new CommandFailure(
      Exit.usage,
      'There is no receipt: the input is empty. Name its file, or pipe it in.',
    )
  // The output of `receipts show` for people holds it on a line of its own.
  if (!trimmed.startsWith('{'))
    return trimmed.split(/\s*\n/).find((line) => COMPACT_JWS.test(line)) ?? trimmed
  const document = parseJsonOrUndefined(trimmed)
  for (const place of [document, member(document, 'receipt')]) {
    const jws = member(place, 'jws')
    if (typeof jws === 'string') return jws
  }
  throw new CommandFailure(
    Exit.usage,
    'This JSON holds no receipt: expected `jws`, or `receipt` with `jws` in it.',
  )
}

const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
