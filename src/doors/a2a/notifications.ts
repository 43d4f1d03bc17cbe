// Push notifications, put together: what clients ask for, and who tells them.
import type { DoorParts } from '../parts.ts'
import { createPush, type Push } from './push.ts'
import { openProof } from './push-config.ts'
import { createPushDelivery, type PushDelivery, type PushDeliveryParts } from './push-delivery.ts'
import { writeNotification } from './push-notification.ts'
import type { TaskRows } from './task-store.ts'

export interface Notifications {
  readonly push: Push
  /** The same rows: whoever wants to be told of a task hears of it as soon as it is stored. */
  watch(rows: TaskRows): TaskRows
  /** @param readTask the task as it is stored */
  start(readTask: PushDeliveryParts['readTask']): void
  close(): Promise<void>
}

/** @returns undefined where the door has no way out */
export function openNotifications(parts: DoorParts): Notifications | undefined {
  const { store, webhooks, signer, deriveKey, log, now, addresses } = parts
  if (!webhooks) return undefined
  const sealKey = deriveKey('a2a-push')
  let delivery: PushDelivery | undefined

  return {
    push: createPush({
      store,
      webhooks,
      sealKey,
      addressKey: deriveKey('a2a-push-address'),
      added: () => delivery?.added(),
      now,
    }),
    watch: (rows) => ({
      ...rows,
      async saveTask(task) {
        const isSaved = await rows.saveTask(task)
        if (isSaved) delivery?.changed()
        return isSaved
      },
    }),
    start(readTask) {
      delivery = createPushDelivery({
        store,
        readTask,
        write(config, known) {
          const proof = config.sealed === null ? {} : openProof(sealKey, config.sealed, config)
          return writeNotification(config, known, proof, { signer, baseUrl: addresses.baseUrl, now })
        },
        post: webhooks.post,
        log,
        now,
      })
    },
    close: async () => delivery?.close(),
  }
}
