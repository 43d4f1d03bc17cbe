// Nobody has signed in: for doors that are tested without people.
import type { Identity } from '../../src/identity/index.ts'

export const noIdentity = {
  sessions: { find: async () => undefined },
} as unknown as Identity
