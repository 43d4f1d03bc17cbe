import { rm } from 'node:fs/promises'

/** The embedded chain of a gateway that was killed writes its state for up to five seconds more (src/sandbox/anvil.ts). */
const RETRIES = 15
const RETRY_DELAY_MS = 100

/** Removes a data directory, also while what a killed gateway leaves behind still writes into it. */
export const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true, maxRetries: RETRIES, retryDelay: RETRY_DELAY_MS })
