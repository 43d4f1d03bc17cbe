import { createSecretKey, hash, type KeyObject } from 'node:crypto'

/** Keys for tests of parts that need one: another purpose, another key. */
export const deriveKey = (purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hash('sha256', `test key ${purpose}`, 'hex'), 'hex'))
