// Options that several commands share, and the parsers of their values.
import type { z } from 'zod'
import { BudgetWish as BudgetWishSchema } from '../../schemas/budget.ts'
import type { HttpMethod as HttpMethodSchema } from '../../schemas/http.ts'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ownArguments } from './secrets.ts'
import type { TableOptions } from './table.ts'

type HttpMethod = z.infer<typeof HttpMethodSchema>
type BudgetWish = z.infer<typeof BudgetWishSchema>

/** Every command that talks to a gateway takes these. */
export interface ConnectionOptions {
  readonly json?: boolean
  readonly url?: string
  readonly keyFile?: string
  readonly allowPlainHttp?: boolean
}

/** `--json`, for scripts: the answer on stdout, and the problem on stderr. */
export const jsonOption = () =>
  new Option('--json', 'print JSON: on stdout the answer, on stderr the problem')

/** `serve` and `stdio` print no JSON of their own, so that an option that they do not have is told in words. */
const WITHOUT_JSON = ['serve', 'stdio']

/** Whether what fails is to be told as JSON, also where the arguments cannot be read. */
export const wantsJson = (args: readonly string[]): boolean =>
  !WITHOUT_JSON.includes(args[0] ?? '') && ownArguments(args).includes('--json')

/** Adds which gateway is asked and with which key; `connect` reads them. */
export function addConnectionOptions(command: Command): Command {
  return command
    .addOption(jsonOption())
    .option('--url <url>', 'the gateway; default GATEWAY_BASE_URL, else the one that owns the data directory')
    .option(
      '--key-file <file>',
      'service key; default GATEWAY_OPERATOR_KEY, else your `login`, else operator.key in the data directory',
    )
    .option('--allow-plain-http', 'send the key over http:// to another machine (it can be read on the way)')
}

/** Adds `--wide` and `--columns`, which whatever prints a table takes. */
export const addTableOptions = (command: Command): Command =>
  command
    .option('--wide', 'whole cells, however wide the terminal; a pipe always has them')
    .option('--columns <names>', 'only these columns, in this order: a,b,c', (text: string) =>
      text.split(',').map((name) => name.trim().toLowerCase().replaceAll(' ', '_')),
    )

export interface PageOptions extends TableOptions {
  readonly limit: number
  readonly before?: string
}

/** Adds `--limit`, 50 unless said and 100 at most, and `--before`, the cursor of the page before. */
export function addPageOptions(command: Command): Command {
  return addTableOptions(command)
    .option('--limit <n>', 'rows, at most 100', parseInteger(1, 100), 50)
    .option('--before <cursor>', 'read on: the cursor that the previous page ended with')
}

/** The page options as list tools take them. */
export const pageOf = ({ limit, before }: PageOptions) => ({ limit, before })

/** Repeatable option: `--host a --host b`. */
export const collect = (value: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  value,
]

/**
 * @returns a parser of whole numbers in the range, ends included
 * @throws {InvalidArgumentError} by that parser, exit code 2
 */
export const parseInteger =
  (min: number, max: number) =>
  (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
    return value
  }

const UNIT_SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** `900`, `90s`, `15m`, `24h`, `1d` -> seconds. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,9})([smhd]?)$/.exec(text)
  if (!match) throw new InvalidArgumentError('Write a time like 900, 90s, 15m, 24h or 1d.')
  return Number(match[1]) * UNIT_SECONDS[(match[2] || 's') as keyof typeof UNIT_SECONDS]
}

export interface BudgetOptions {
  readonly budget?: readonly BudgetWish[]
}

/** Adds `--budget calls/hour=100`, repeatable; `budgetsOf` reads it. */
export const addBudgetOption = (command: Command): Command =>
  command.option(
    '--budget <unit/period=limit>',
    'calls/hour=100, credits/day=500, usdc/total=12.50; repeatable',
    (text: string, previous: readonly BudgetWish[] | undefined) => [...(previous ?? []), parseBudget(text)],
  )

function parseBudget(text: string): BudgetWish {
  const [, unit, per, limit] = /^(\w+)\/(\w+)=([\d.]+)$/.exec(text) ?? []
  const wish = BudgetWishSchema.safeParse({ unit, per, limit })
  if (!wish.success)
    throw new InvalidArgumentError(
      'Write calls, credits or usdc, a slash, hour, day, month or total, and a limit: calls/hour=100.',
    )
  return wish.data
}

export const budgetsOf = ({ budget }: BudgetOptions) => (budget === undefined ? {} : { budgets: [...budget] })

/** Allow-list of credentials and capabilities. */
export interface ScopeOptions {
  readonly host?: readonly string[]
  readonly path?: readonly string[]
  readonly method?: readonly string[]
}

/** Adds `--host`, `--path` and `--method`, each repeatable; `scopeOf` reads them. */
export function addScopeOptions(command: Command): Command {
  return command
    .option('--host <name>', 'exact host that may be called; repeatable', collect)
    .option('--path <prefix>', 'path prefix below which calls may go; repeatable', collect)
    .option(
      '--method <method>',
      'HTTP method; repeatable',
      (value: string, previous: readonly string[] | undefined) => collect(value.toUpperCase(), previous),
    )
}

/** Members that were given are sent, and no others: the gateway fills the rest from the provider or the credential. */
export const scopeOf = ({ host, path, method }: ScopeOptions) => ({
  ...(host === undefined ? {} : { hosts: [...host] }),
  ...(path === undefined ? {} : { path_prefixes: [...path] }),
  // The gateway refuses what is no method, with the list of those that are.
  ...(method === undefined ? {} : { methods: [...method] as HttpMethod[] }),
})
