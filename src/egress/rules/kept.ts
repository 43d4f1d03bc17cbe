// What an edit of a credential takes away: settings are all replaced at once, so that what is left out is gone. Pure.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'

const ALLOW = 'allow '
const ASK = 'ask '
const DENY = 'deny '

type Ruled = Pick<CredentialSettings, 'rules' | 'approval'>

/** What an edit ended, for who reads its answer and its event. */
export interface Dropped {
  /** Names of settings that are there no more. */
  readonly settings: readonly string[]
  /** Lines of the rules that are there no more. */
  readonly rules: readonly string[]
}

export function droppedBy(before: CredentialSettings, after: CredentialSettings): Dropped {
  const isThere = (settings: CredentialSettings, name: string) =>
    settings[name as keyof CredentialSettings] !== undefined
  const kept = new Set(after.rules)
  return {
    settings: Object.keys(before).filter((name) => isThere(before, name) && !isThere(after, name)),
    rules: (before.rules ?? []).filter((rule) => !kept.has(rule)),
  }
}

/**
 * Whether people are asked about everything that they were asked about before, unless it is denied now: each `ask` is there yet, in these words or
 * as a `deny`, and behind no `allow` that did not stand before it. The first rule that fits decides.
 */
export function asksNoLess(before: Ruled, after: Ruled): boolean {
  // Then they are asked about every request.
  if (after.approval !== undefined) return true
  const [old, now] = [before.rules ?? [], after.rules ?? []]
  return old.every((rule, at) => {
    if (!rule.startsWith(ASK)) return true
    const place = now.findIndex((one) => one === rule || one === DENY + rule.slice(ASK.length))
    const earlier = new Set(old.slice(0, at))
    return place >= 0 && now.slice(0, place).every((one) => !one.startsWith(ALLOW) || earlier.has(one))
  })
}
