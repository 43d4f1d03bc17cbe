// The store's task commands in memory, to the contract of src/store/ports.ts, for tests of the A2A door alone.
import type { Store, StoredTask } from '../../src/store/ports.ts'
import { hashToken } from '../../src/lib/tokens.ts'
import type { Capability, ServiceKey } from '../../src/store/ports.ts'

export interface MemoryTaskStore {
  readonly store: Store
  readonly rows: Map<string, StoredTask>
  addKey(token: string, key: Partial<ServiceKey> & { accountId: string }): void
  addCapability(token: string, capability: Partial<Capability> & { id: string }): void
  /** Makes the next calls of saveTask fail. */
  failSaves: boolean
}

const cursorOf = (row: StoredTask) => `${row.updatedAt}~${row.id}`

export function createMemoryTaskStore(): MemoryTaskStore {
  const rows = new Map<string, StoredTask>()
  const keys = new Map<string, ServiceKey>()
  const capabilities = new Map<string, Capability>()
  const hex = (token: string) => hashToken(token).toString('hex')
  const memory: MemoryTaskStore = {
    rows,
    failSaves: false,
    addKey(token, key) {
      const defaults = {
        id: `key_${keys.size}`,
        label: '',
        admin: false,
        role: 'operator' as const,
        createdAt: 0,
        revokedAt: null,
      }
      keys.set(hex(token), { ...defaults, ...key })
    },
    addCapability(token, capability) {
      capabilities.set(hex(token), {
        accountId: 'acct_agent',
        credentialId: 'cred_1',
        parentId: null,
        rootId: 'cap_root',
        label: '',
        scope: { hosts: ['api.example.com'], path_prefixes: ['/'], methods: ['GET'] },
        maxUses: null,
        uses: 0,
        isBudgeted: false,
        showsBalance: false,
        createdAt: 0,
        expiresAt: Number.MAX_SAFE_INTEGER,
        revokedAt: null,
        ...capability,
      })
    },
    store: {
      engine: 'sqlite',
      findKey: async (hash: Buffer) => keys.get(hash.toString('hex')),
      findCapability: async (hash: Buffer) => capabilities.get(hash.toString('hex')),
      async saveTask(task: StoredTask) {
        if (memory.failSaves) throw new Error('disk full at /var/lib/secret')
        const current = rows.get(task.id)?.revision ?? 0
        if (task.revision !== current + 1) return false
        rows.set(task.id, task)
        return true
      },
      getTask: async (id: string) => rows.get(id),
      async listTasks(filter, page) {
        const matching = [...rows.values()]
          .filter((row) => row.owner === filter.owner)
          .filter((row) => filter.contextId === undefined || row.contextId === filter.contextId)
          .filter((row) => filter.state === undefined || row.state === filter.state)
          .filter((row) => filter.since === undefined || row.updatedAt >= filter.since)
          .toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
        const start =
          page.before === undefined ? 0 : matching.findIndex((row) => cursorOf(row) === page.before) + 1
        const items = matching.slice(start, start + page.limit)
        const isLast = start + page.limit >= matching.length
        return { items, next: isLast ? null : cursorOf(items.at(-1)!), total: matching.length }
      },
    } as Partial<Store> as Store,
  }
  return memory
}
