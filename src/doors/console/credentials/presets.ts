// The providers as forms and pages need them, from the tool that lists them.
import type { ConsoleRequest } from '../ports.ts'

export interface Preset {
  readonly id: string
  readonly name: string
  readonly category: string
  readonly hosts: readonly string[]
  readonly host_suffixes?: readonly string[]
  readonly header: string
  readonly scheme: string
  readonly parts?: Readonly<Record<string, 'secret' | 'public'>>
  readonly idempotency_honoured: 'true' | 'false' | 'unknown'
  readonly denied_paths: readonly { readonly method: string | null; readonly path: string }[]
  /** A call that changes nothing and shows whether a credential works. */
  readonly example: {
    readonly method: string
    readonly url: string
    readonly what: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  readonly docs: string
}

/** All of them, an operator's own last. */
export async function presetsFor({ call }: Pick<ConsoleRequest, 'call'>): Promise<readonly Preset[]> {
  const { providers } = (await call('gateway.egress.providers', {})) as { providers: readonly Preset[] }
  return providers
}

export const CUSTOM = 'custom'

/** Those whose id, name or hosts hold the words. */
export function findPresets(presets: readonly Preset[], words: string): readonly Preset[] {
  const wanted = words.trim().toLowerCase()
  return presets.filter(
    ({ id, name, hosts }) =>
      id !== CUSTOM && [id, name.toLowerCase(), ...hosts].some((text) => text.includes(wanted)),
  )
}

/** By category, in the order of the list. */
export const byCategory = (presets: readonly Preset[]): [string, Preset[]][] => [
  ...Map.groupBy(presets, ({ category }) => category),
]
