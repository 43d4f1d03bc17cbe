// Push notifications of A2A: the four operations on configurations, and the ones that come with a message. Whoever may read a task may
// be told of it; a configuration dies with its task.
import { createHmac, type KeyObject, randomUUID } from 'node:crypto'
import { PushNotificationNotSupportedError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import { GatewayError } from '../../core/errors.ts'
import { holderOf } from '../../core/rate-limit.ts'
import type { NewPushConfig, PushConfig, Store } from '../../store/ports.ts'
import type { WebhookSender } from '../../outbound/webhook.ts'
import type { A2aCall } from './call.ts'
import { type AskedPush, parsePush, sealProof, shownPush, type WirePushConfig } from './push-config.ts'
import type { KnownTask } from './task-store.ts'

/** Of one task; and of one account or agent, or one address where nobody said who asks, in tasks that still go on. */
const LIMITS = { perTask: 5, perOwner: 200, perAddress: 20 }

export interface PushParts {
  readonly store: Pick<Store, 'savePushConfig' | 'listPushConfigs' | 'deletePushConfig'>
  readonly webhooks: Pick<WebhookSender, 'check'>
  /** Seals what proves us to receivers. */
  readonly sealKey: KeyObject
  /** Turns addresses into what they are counted by, which says nothing of them. */
  readonly addressKey: KeyObject
  /** Somebody wants to be told. */
  readonly added: () => void
  readonly now: () => number
}

/** What was asked for and may be done; not stored yet. */
export type VettedPush = AskedPush & { readonly host: string }

/** The state of a task that its client knows. */
export interface KnownState {
  readonly id: string
  readonly owner: string | null
  readonly state: string | null
  readonly revision: number
}

export interface Push {
  /**
   * Judges what is asked for, before anything is done.
   * @throws {GatewayError} input_invalid, target_invalid, target_blocked, egress_paused
   */
  vet(given: unknown, at: string): Promise<VettedPush>
  /** Stores it. @throws {GatewayError} state_conflict, rate_limited where there are as many as there may be */
  add(asked: VettedPush, known: KnownState, call: A2aCall): Promise<WirePushConfig>
  list(taskId: string): Promise<readonly WirePushConfig[]>
  /** @param id empty where a client of 0.3 names none: the first one. @throws {TaskNotFoundError} */
  get(taskId: string, id: string): Promise<WirePushConfig>
  remove(taskId: string, id: string): Promise<void>
}

/** A message may hold several addresses: the refusal of this one says which it is. */
const aboutUrl = (error: unknown, pointer: string): unknown =>
  error instanceof GatewayError && error.code.startsWith('target_')
    ? new GatewayError(error.code, `${pointer}: ${error.message}`, {
        cause: error,
        extras: error.extras,
        ...(error.reason !== undefined && { reason: error.reason }),
      })
    : error

export function createPush(parts: PushParts): Push {
  const { store, webhooks, sealKey, addressKey, now } = parts

  const digestOf = (address: string) =>
    `address:${createHmac('sha256', addressKey).update(holderOf(address)).digest('base64url').slice(0, 22)}`

  return {
    async vet(given, at) {
      const asked = parsePush(given, at)
      const host = await webhooks.check(asked.url).catch((error: unknown) => {
        throw aboutUrl(error, `${at}/url`)
      })
      return { ...asked, host }
    },

    async add(asked, { id: taskId, owner, state, revision }, call) {
      const row = {
        taskId,
        // 0.3 knows one of a task that has no name: another one takes its place.
        id: asked.id ?? (call.version === '0.3' ? taskId : randomUUID()),
        holder: owner ?? digestOf(call.address),
        url: asked.url,
        host: asked.host,
        scheme: asked.scheme ?? null,
        wire: call.version,
        toldState: state,
        toldRevision: revision,
        createdAt: now(),
      } satisfies Omit<NewPushConfig, 'sealed'>
      const sealed = asked.proof ? sealProof(sealKey, asked.proof, row) : null
      const perHolder = owner === null ? LIMITS.perAddress : LIMITS.perOwner
      const saved = await store.savePushConfig({
        config: { ...row, sealed },
        limits: { perTask: LIMITS.perTask, perHolder },
      })
      if (!saved.ok) throw tooMany(saved.full, perHolder)
      parts.added()
      return shownPush({ ...row, sealed })
    },

    list: async (taskId) => (await store.listPushConfigs(taskId)).map(shownPush),

    async get(taskId, id) {
      const configs: readonly PushConfig[] = await store.listPushConfigs(taskId)
      const found = id === '' ? configs[0] : configs.find((config) => config.id === id)
      if (!found) throw new TaskNotFoundError('This task has no such push notification configuration.')
      return shownPush(found)
    },

    remove: (taskId, id) => store.deletePushConfig(taskId, id),
  }
}

const tooMany = (full: 'task' | 'holder', perHolder: number) =>
  full === 'task'
    ? new GatewayError(
        'state_conflict',
        `A task has ${LIMITS.perTask} push notification configurations at most. Delete one first.`,
      )
    : new GatewayError(
        'rate_limited',
        `You have ${perHolder} push notification configurations of tasks that go on, and may not have more. Delete some, or read tasks with GetTask.`,
        { extras: { retry_after_seconds: 60 } },
      )

/** What a task changes into after its configuration was stored is told; one that has ended already is told in any case. */
export const knownState = ({ task, owner, revision, phase }: KnownTask): KnownState => {
  const { id, status } = task
  return phase === 'ended'
    ? { id, owner, state: null, revision: 0 }
    : { id, owner, state: status.state, revision }
}

/** @throws {PushNotificationNotSupportedError} where the door was opened without a way out */
export function requirePush(push: Push | undefined): Push {
  if (!push) throw new PushNotificationNotSupportedError()
  return push
}
