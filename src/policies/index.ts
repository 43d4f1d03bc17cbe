// Policies of the installation: read as text, explained, tried on what was decided lately, changed, and remembered.
import { z } from 'zod'
import { GatewayError } from '../core/errors.ts'
import { currentActor } from '../lib/acting.ts'
import { newId } from '../lib/ids.ts'
import { OperatorJsonFault, parseOperatorJson } from '../lib/operator-json.ts'
import { digestText } from '../store/documents/text-digest.ts'
import type { DocumentStore, Store } from '../store/ports.ts'
import { INSTALLATION_CHAIN } from '../store/ports/audit.ts'
import { egressPolicy } from './egress.ts'
import { paymentPolicy } from './payment.ts'
import type { Change, DryRun, Policies, PolicyKind, PolicyName, PolicyText, Problem } from './ports.ts'
import { transactionPolicy } from './transaction.ts'

export interface PoliciesParts {
  readonly store: Store
  readonly documents: DocumentStore
  readonly now: () => number
}

export interface OpenPolicies extends Policies {
  /** Writes down what was edited by hand. Called at the start and then every minute. */
  settle(): Promise<void>
}

/** The last decisions that a new text is tried on. */
const TRIED_ON = 100
/** Lists of addresses are long; a text beyond this is no policy. */
export const MAX_POLICY_CHARACTERS = 200_000

/** What one of them parsed is all that it is ever given. */
const KINDS: Readonly<Record<PolicyName, PolicyKind<unknown>>> = {
  egress: egressPolicy,
  payment: paymentPolicy,
  transaction: transactionPolicy,
}

export function createPolicies({ store, documents, now }: PoliciesParts): OpenPolicies {
  /** The text as an editor shows it: what holds where nobody wrote one is written out. */
  async function read({ document }: PolicyKind<unknown>) {
    const { text, revision } = await documents.readText(document)
    return { text: text ?? toText(document.initial), isWritten: text !== undefined, revision }
  }

  /** Writes a text down that did not come through here. */
  async function note(kind: PolicyKind<unknown>): Promise<void> {
    const { text, isWritten } = await read(kind)
    const { name } = kind.document
    const last = await store.getPolicyRevision(name)
    if (last?.after === text || (!last && !isWritten)) return
    await store.addPolicyRevision({
      id: newId('prv', now()),
      name,
      at: now(),
      way: last ? 'by_hand' : 'seen',
      actorKind: 'gateway',
      actorId: null,
      note: '',
      before: last?.after ?? null,
      after: text,
      digest: digestText(text),
    })
  }

  async function get(policy: PolicyName): Promise<PolicyText> {
    const kind = KINDS[policy]
    const { text, revision } = await read(kind)
    const parsed = parse(kind, text)
    return {
      policy,
      text,
      revision,
      problems: parsed.problems,
      statements: parsed.isValid ? kind.explain(parsed.value) : [],
    }
  }

  return {
    get,
    list: () => Promise.all(Object.values(KINDS).map(({ name }) => get(name))),

    async check({ policy, text, accountId }) {
      const kind = KINDS[policy]
      const parsed = parse(kind, text)
      if (!parsed.isValid) return { policy, problems: parsed.problems, statements: [], dryRun: null }
      return {
        policy,
        problems: [],
        statements: kind.explain(parsed.value),
        dryRun: await tryOn(kind, parsed.value, accountId),
      }
    },

    async update({ policy, text: given, revision, note: why }) {
      const kind = KINDS[policy]
      const { document } = kind
      const text = given.endsWith('\n') ? given : `${given}\n`
      const parsed = parse(kind, text)
      if (!parsed.isValid)
        throw new GatewayError('input_invalid', 'This text is no valid policy, so nothing was changed.', {
          extras: { fields: [...parsed.problems] },
        })
      const before = await read(kind)
      if (before.revision !== revision) throw changedMeanwhile()
      await note(kind)
      await documents.replaceText(document, { text, revision })
      const acting = currentActor()
      const digest = digestText(text)
      await store.addPolicyRevision({
        id: newId('prv', now()),
        name: document.name,
        at: now(),
        way: 'here',
        actorKind: acting.kind,
        actorId: acting.id ?? null,
        note: why,
        before: before.text,
        after: text,
        digest,
        audited: {
          digest,
          event: {
            chain: INSTALLATION_CHAIN,
            at: now(),
            event: 'policy.changed',
            subject: { type: 'document', id: document.name },
            detail: { digest },
          },
          acting,
        },
      })
      return get(policy)
    },

    async history(policy, page) {
      await note(KINDS[policy])
      return store.listPolicyRevisions(KINDS[policy].document.name, page)
    },
    find: (policy, id) => store.getPolicyRevision(KINDS[policy].document.name, id),

    async settle() {
      for (const kind of Object.values(KINDS)) await note(kind)
    },
  }

  async function tryOn(kind: PolicyKind<unknown>, next: unknown, accountId: string): Promise<DryRun> {
    const { value: current } = await documents.read(kind.document)
    const { decisions, gaps } = await kind.past(store, accountId, TRIED_ON)
    const counts = { allow: 0, review: 0, deny: 0 }
    const changes: Change[] = []
    for (const { at, what, judge } of decisions) {
      const before = judge(current)
      const after = judge(next)
      counts[after.verdict]++
      if (before.verdict !== after.verdict || before.reasons.join() !== after.reasons.join())
        changes.push({ at, what, before, after })
    }
    return { judged: decisions.length, since: decisions.at(-1)?.at ?? null, counts, changes, gaps }
  }
}

type Parsed =
  | { readonly isValid: true; readonly value: unknown; readonly problems: readonly [] }
  | { readonly isValid: false; readonly problems: readonly Problem[] }

function parse({ document }: PolicyKind<unknown>, text: string): Parsed {
  const fail = (...problems: Problem[]): Parsed => ({ isValid: false, problems })
  if (text.length > MAX_POLICY_CHARACTERS)
    return fail({ pointer: '', message: `the text is longer than ${MAX_POLICY_CHARACTERS} characters` })
  try {
    return { isValid: true, value: document.parse(parseOperatorJson(text)), problems: [] }
  } catch (thrown) {
    if (thrown instanceof OperatorJsonFault)
      return fail({ pointer: '', message: `the text ${thrown.message}` })
    if (!(thrown instanceof z.ZodError)) throw thrown
    return fail(
      ...thrown.issues.slice(0, 20).map(({ path, message }) => ({
        pointer: path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join(''),
        message,
      })),
    )
  }
}

const toText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

const changedMeanwhile = () =>
  new GatewayError(
    'state_conflict',
    'Somebody changed this policy after you read it, here or by hand. Nothing was written. Compare your text with the one that stands now, then decide again.',
  )
