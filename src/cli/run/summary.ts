// What a run did, in a few lines for people and as a document for programs. Pure.
import type { Passage, Refusal } from '../../doors/proxy/ports.ts'
import { formatValue } from '../output.ts'
import type { OthersInRun, SeenInAll, SeenInRun } from './dry-run.ts'

/** An attempt of the run, as the gateway has it. */
export interface RunAttempt {
  readonly attempt_id: string
  readonly host: string
  readonly state: string
  readonly credits_charged: number
  readonly receipt_id: string | null
}

/** What the gateway said of the attempts of a run, and whether that is all of them. */
export interface RunAttempts {
  readonly attempts: readonly RunAttempt[]
  readonly isWhole: boolean
}

export interface RunSummary {
  readonly exit_code: number
  readonly hosts: readonly {
    readonly host: string
    readonly attempts: number
    readonly credits: number
    readonly receipts: number
  }[]
  /** Without a credential: opened and passed on, or not opened. */
  readonly passed: readonly {
    readonly host: string
    readonly way: 'tunnel' | 'inspect'
    readonly connections: number
    readonly bytes: number
  }[]
  readonly refused: readonly {
    readonly host: string
    readonly code: string
    readonly detail: string
    readonly times: number
  }[]
  /** Connections to further hosts, of which there were too many to name; left out where each is named. */
  readonly others?: { readonly passed: number; readonly refused: number }
  readonly attempts: readonly RunAttempt[]
  /** The gateway did not say of all its attempts, and has them; left out where it did. */
  readonly attempts_incomplete?: true
  /** Of a dry run: what was called, whether or not it was covered. */
  readonly requests?: readonly SeenInRun[]
  /** Of a dry run: further requests, of which there were too many different ones to name; left out where each is named. */
  readonly requests_others?: OthersInRun
}

/** Different ones that are kept, of each kind: a program may name more hosts, without end, and nobody reads as many. */
const MOST = 10_000

/**
 * Adds up what the door tells as it comes. Kept is a text of its own for each, not the host as it is: that may be a piece of a long request, all of which
 * would stay with it.
 */
export function createRunRecord() {
  const passages = new Map<string, { connections: number; bytes: number }>()
  const refusals = new Map<string, number>()
  const others = { passed: 0, refused: 0 }
  return {
    watch: {
      passed({ host, way, bytesUp, bytesDown }: Passage) {
        if (way === 'credential') return
        const key = JSON.stringify([host, way])
        const known = passages.get(key)
        if (!known && passages.size >= MOST) others.passed++
        else
          passages.set(key, {
            connections: (known?.connections ?? 0) + 1,
            bytes: (known?.bytes ?? 0) + bytesUp + bytesDown,
          })
      },
      refused({ host, code, detail }: Refusal) {
        // Programs such as git say who they are once they are asked: that is no refusal.
        if (code === 'proxy_identity_required') return
        const key = JSON.stringify([host, code, detail])
        const times = refusals.get(key) ?? 0
        if (times === 0 && refusals.size >= MOST) others.refused++
        else refusals.set(key, times + 1)
      },
    },
    summarise(exitCode: number, { attempts, isWhole }: RunAttempts, seen?: SeenInAll): RunSummary {
      return {
        exit_code: exitCode,
        hosts: groups(attempts, ({ host }) => host).map(([host, of]) => ({
          host,
          attempts: of.length,
          credits: of.reduce((sum, { credits_charged }) => sum + credits_charged, 0),
          receipts: of.filter(({ receipt_id }) => receipt_id !== null).length,
        })),
        passed: [...passages].map(([key, counted]) => {
          const [host, way] = JSON.parse(key) as [string, 'tunnel' | 'inspect']
          return { host, way, ...counted }
        }),
        refused: [...refusals].map(([key, times]) => {
          const [host, code, detail] = JSON.parse(key) as [string, string, string]
          return { host, code, detail, times }
        }),
        ...(others.passed + others.refused > 0 && { others: { ...others } }),
        attempts,
        ...(!isWhole && { attempts_incomplete: true }),
        ...(seen && { requests: seen.requests }),
        ...(seen?.others && { requests_others: seen.others }),
      }
    },
  }
}

const groups = <T>(
  items: readonly T[],
  by: (item: T) => string,
): readonly (readonly [string, readonly T[]])[] => [...Map.groupBy(items, by)]

/** One line a host, for stderr. */
export function describeRun({
  exit_code,
  hosts,
  passed,
  refused,
  others,
  attempts_incomplete,
  requests = [],
  requests_others,
}: RunSummary): string {
  const lines = [`agent-gateway run: ended with ${exit_code}`]
  for (const { host, attempts, credits, receipts } of hosts)
    lines.push(
      `  ${formatValue(host)}  ${count(attempts, 'attempt')}, ${count(credits, 'credit')}, ${count(receipts, 'receipt')}`,
    )
  for (const { host, way, connections, bytes } of passed)
    lines.push(
      `  ${formatValue(host)}  ${way === 'tunnel' ? `not opened, ${bytes} bytes` : 'opened, without a credential'}, ${count(connections, 'connection')}`,
    )
  for (const { host, detail, times } of refused)
    lines.push(`  ${formatValue(host)}  refused${times > 1 ? ` ${times} times` : ''}: ${formatValue(detail)}`)
  if (others)
    lines.push(
      `  further hosts  ${count(others.refused, 'connection')} refused, ${count(others.passed, 'connection')} without a credential`,
    )
  for (const { decision, method, host, path, times } of requests)
    if (decision === 'deny' || decision === 'ask')
      lines.push(
        `  dry run: the policy ${decision === 'ask' ? 'asks a person about' : 'denies'} ${method} ${formatValue(host + path)}${times > 1 ? `, ${times} times` : ''}`,
      )
  if (requests_others)
    lines.push(
      `  dry run: ${count(requests_others.times, 'further request')} of too many different ones to name${requests_others.refused > 0 ? `, ${requests_others.refused} of which the policy does not allow` : ''}`,
    )
  if (attempts_incomplete)
    lines.push(
      '  not all attempts could be read from the gateway, which has them: `agent-gateway attempts list`',
    )
  if (lines.length === 1) lines.push('  nothing was called through the gateway')
  return `${lines.join('\n')}\n`
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
