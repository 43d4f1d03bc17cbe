// Policies as tools and the console see them, and what each kind of policy brings. Types only.
import type { Page, PageRequest } from '../store/model.ts'
import type { DocumentKind, PolicyRevision, PolicyRevisionTexts, Store } from '../store/ports.ts'
import type { Statement } from './statements.ts'

export const POLICY_NAMES = ['egress', 'payment', 'transaction'] as const
export type PolicyName = (typeof POLICY_NAMES)[number]

export interface PolicyText {
  readonly policy: PolicyName
  readonly text: string
  /** Names this very text: whoever replaces it says which one they read. */
  readonly revision: string
  /** What is wrong with it; the last valid text is in force meanwhile. */
  readonly problems: readonly Problem[]
  /** What it does; nothing where it is not valid. */
  readonly statements: readonly Statement[]
}

export interface Problem {
  /** JSON Pointer; empty for the whole text. */
  readonly pointer: string
  readonly message: string
}

export interface CheckedText extends Pick<PolicyText, 'policy' | 'problems' | 'statements'> {
  /** Null where the text is not valid. */
  readonly dryRun: DryRun | null
}

/** The last decisions, judged by the text that stands and by the new one. Nothing is sent and nothing is changed. */
export interface DryRun {
  readonly judged: number
  /** Milliseconds since the epoch; null where nothing was judged. */
  readonly since: number | null
  /** By what the new text says of them. */
  readonly counts: Readonly<Record<Verdict, number>>
  /** Those of which both texts do not say the same. */
  readonly changes: readonly Change[]
  /** What is on no record, so that nobody knows what the new text would say: keys of `GAPS`. */
  readonly gaps: readonly string[]
}

export const VERDICTS = ['allow', 'review', 'deny'] as const
export type Verdict = (typeof VERDICTS)[number]

export interface Judged {
  readonly verdict: Verdict
  /** Stable words, such as `denied_host`. */
  readonly reasons: readonly string[]
}

export interface Change {
  readonly at: number
  /** What was decided, in names of the gateway and of hosts and addresses. */
  readonly what: string
  readonly before: Judged
  readonly after: Judged
}

/** One decision on record. */
export interface PastDecision<T> {
  readonly at: number
  readonly what: string
  judge(policy: T): Judged
}

/** What one kind of policy brings. */
export interface PolicyKind<T> {
  readonly name: PolicyName
  readonly document: DocumentKind<T>
  explain(value: T): readonly Statement[]
  /** The last ones, newest first. @param accountId of whoever asks: nobody sees what others did */
  past(
    store: Store,
    accountId: string,
    limit: number,
  ): Promise<{ readonly decisions: readonly PastDecision<T>[]; readonly gaps: readonly string[] }>
}

export interface Policies {
  list(): Promise<readonly PolicyText[]>
  get(policy: PolicyName): Promise<PolicyText>
  /** What the text would do. It is not kept. */
  check(input: { policy: PolicyName; text: string; accountId: string }): Promise<CheckedText>
  /**
   * Puts the text in force, and writes down who did.
   * @throws {GatewayError} input_invalid; state_conflict where another text stands there than the one that was read
   */
  update(input: { policy: PolicyName; text: string; revision: string; note: string }): Promise<PolicyText>
  history(policy: PolicyName, page: PageRequest): Promise<Page<PolicyRevision>>
  /** One of the history, with its texts. */
  find(policy: PolicyName, id: string): Promise<PolicyRevisionTexts | undefined>
}
