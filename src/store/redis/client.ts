// The connection to Redis as the gateway opens it; the doctor opens the same.
import { createClient } from '@redis/client'

/** An exchange a second: one that takes longer is of no use. */
const TIMEOUT_MS = 500

/**
 * Not connected yet.
 * @param reconnectMs how long after a failure it is tried again; `false` ends with the first
 */
export const createRedisClient = (url: string, reconnectMs: number | false) =>
  createClient({
    url,
    name: 'agent-gateway',
    // What cannot be asked now is asked of the database.
    disableOfflineQueue: true,
    commandOptions: { timeout: TIMEOUT_MS },
    socket: { connectTimeout: 5000, reconnectStrategy: reconnectMs },
  })

/** All on one node of a cluster, where a script has to have its keys. */
export const keyOf = (name: string): string => `{agent-gateway}:rates:${name}`
