// What can be the matter with what holds the wrapping key, as opposed to a record: found also behind the words for a caller.
import { KeyFileFault } from './key-file-fault.ts'
import { KeyServiceError } from './key-service.ts'

/** Its message was written for the operator's log: the service or the file, and a code; nothing secret. */
export type AuthorityFault = KeyServiceError | KeyFileFault

/** @returns the fault that was thrown, or that caused what was thrown */
export function faultIn(thrown: unknown): AuthorityFault | undefined {
  if (thrown instanceof KeyServiceError || thrown instanceof KeyFileFault) return thrown
  return thrown instanceof Error && thrown.cause !== undefined ? faultIn(thrown.cause) : undefined
}
