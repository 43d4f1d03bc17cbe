// What a run did, in a few lines for people and as a document for programs. Pure.
import type { Passage, Refusal } from '../../doors/proxy/ports.ts'
import { formatValue } from '../output.ts'
import type { SeenInRun } from './dry-run.ts'

/** An attempt of the run, as the gateway has it. */
export interface RunAttempt {
  readonly attempt_id: string
  readonly host: string
  readonly state: string
  readonly credits_charged: number
  readonly receipt_id: string | null
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
  readonly attempts: readonly RunAttempt[]
  /** Of a dry run: what was called, whether or not it was covered. */
  readonly requests?: readonly SeenInRun[]
}

/** Collects what the door tells, and adds it up. */
export function createRunRecord() {
  const passages: Passage[] = []
  const refusals: Refusal[] = []
  return {
    watch: {
      passed: (passage: Passage) => void passages.push(passage),
      // Programs such as git say who they are once they are asked: that is no refusal.
      refused: (refusal: Refusal) =>
        void (refusal.code !== 'proxy_identity_required' && refusals.push(refusal)),
    },
    summarise(
      exitCode: number,
      attempts: readonly RunAttempt[],
      requests?: readonly SeenInRun[],
    ): RunSummary {
      const unopened = passages.filter(({ way }) => way !== 'credential')
      return {
        exit_code: exitCode,
        hosts: groups(attempts, ({ host }) => host).map(([host, of]) => ({
          host,
          attempts: of.length,
          credits: of.reduce((sum, { credits_charged }) => sum + credits_charged, 0),
          receipts: of.filter(({ receipt_id }) => receipt_id !== null).length,
        })),
        passed: groups(unopened, ({ host, way }) => `${host} ${way}`).map(([, of]) => ({
          host: of[0]?.host ?? '',
          way: of[0]?.way === 'inspect' ? 'inspect' : 'tunnel',
          connections: of.length,
          bytes: of.reduce((sum, { bytesUp, bytesDown }) => sum + bytesUp + bytesDown, 0),
        })),
        refused: groups(refusals, ({ host, detail }) => `${host} ${detail}`).map(([, of]) => ({
          host: of[0]?.host ?? '',
          code: of[0]?.code ?? '',
          detail: of[0]?.detail ?? '',
          times: of.length,
        })),
        attempts,
        ...(requests && { requests }),
      }
    },
  }
}

const groups = <T>(
  items: readonly T[],
  by: (item: T) => string,
): readonly (readonly [string, readonly T[]])[] => [...Map.groupBy(items, by)]

/** One line a host, for stderr. */
export function describeRun({ exit_code, hosts, passed, refused, requests = [] }: RunSummary): string {
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
  for (const { decision, method, host, path, times } of requests)
    if (decision === 'deny' || decision === 'ask')
      lines.push(
        `  dry run: the policy ${decision === 'ask' ? 'asks a person about' : 'denies'} ${method} ${formatValue(host + path)}${times > 1 ? `, ${times} times` : ''}`,
      )
  if (lines.length === 1) lines.push('  nothing was called through the gateway')
  return `${lines.join('\n')}\n`
}

const count = (n: number, what: string) => `${n} ${what}${n === 1 ? '' : 's'}`
