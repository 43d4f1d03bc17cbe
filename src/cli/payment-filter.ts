// What payments are narrowed by: the same options for a list and for a file.
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { z } from 'zod'
import { PaymentRecord, PaymentState } from '../../schemas/payment-record.ts'
import type { paymentsList } from '../../tools/payments-list.ts'

export interface PaymentFilterOptions {
  readonly state?: z.output<typeof PaymentState>
  readonly origin?: PaymentRecord['origin']
  readonly tool?: string
  readonly resource?: string
  readonly network?: string
  readonly payer?: string
  readonly payee?: string
  readonly min?: string
  readonly max?: string
  readonly from?: string
  readonly to?: string
}

/** Adds the options; `filterOf` reads them. */
export const addPaymentFilter = (command: Command): Command =>
  command
    .addOption(new Option('--state <state>', 'only those in this state').choices(PaymentState.options))
    .addOption(
      new Option('--origin <origin>', 'paid to this gateway (tool), or to another seller (settle)').choices(
        PaymentRecord.shape.origin.options,
      ),
    )
    .option('--tool <name>', 'paid for this tool, e.g. gateway.web.fetch')
    .option('--resource <url>', 'paid for this address, exactly as it was paid for')
    .option('--network <id>', 'CAIP-2 id, e.g. eip155:8453')
    .option('--payer <address>', 'paid by this wallet')
    .option('--payee <address>', 'paid to this wallet')
    .option('--min <n>', 'at least so many atomic units', parseUnits)
    .option('--max <n>', 'at most so many atomic units', parseUnits)
    .option(
      '--from <time>',
      'from this day or moment on (UTC): 2026-11-29 or 2026-11-29T08:00:00Z',
      parseFrom,
    )
    .option('--to <time>', 'until this day, and all of it, or before this moment', parseTo)

/** The filter as the tool takes it. */
export const filterOf = (
  options: PaymentFilterOptions,
): Omit<z.input<typeof paymentsList.input>, 'limit' | 'before'> => {
  const { state, origin, tool, resource, network, payer, payee, min, max, from, to } = options
  return {
    state,
    origin,
    tool,
    resource,
    network,
    payer,
    pay_to: payee,
    min_atomic: min,
    max_atomic: max,
    from,
    to,
  }
}

function parseUnits(text: string): string {
  if (!/^(0|[1-9]\d{0,77})$/.test(text))
    throw new InvalidArgumentError('Write whole atomic units: 0.01 USDC is 10000.')
  return text
}

const DAY_MS = 86_400_000
const parseFrom = (text: string) => momentOf(text, 0)
/** A day that is the last one is in it. */
const parseTo = (text: string) => momentOf(text, DAY_MS)

function momentOf(text: string, later: number): string {
  const day = text.slice(0, 10)
  const isDay = text === day
  const at = Date.parse(isDay ? `${day}T00:00:00Z` : text)
  if (Number.isNaN(at) || !isOfCalendar(day) || !(isDay || /T.*(Z|[+-]\d{2}:\d{2})$/.test(text)))
    throw new InvalidArgumentError('Write a day like 2026-11-29, or a moment like 2026-11-29T08:00:00Z.')
  return new Date(at + (isDay ? later : 0)).toISOString()
}

/** Dates are read leniently: of 30 February they make 2 March. */
function isOfCalendar(day: string): boolean {
  const at = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day)
}
