// What the authorization server keeps between two requests.
import type { Millis } from '../model.ts'

/** A row as it is found; what is in it is sealed. */
export interface OauthRow {
  readonly rowHash: Uint8Array
  readonly payload: string
  readonly expiresAt: Millis
  /** A code or refresh token was used, for the first time. */
  readonly consumedAt: Millis | null
  /** A person has decided on it. */
  readonly answeredAt: Millis | null
}

/** What a grant of the authorization server leads to. */
export interface GrantedConnection {
  readonly id: string
  readonly accountId: string
  readonly personId: string
  readonly clientId: string
  readonly createdAt: Millis
  /** When all of it ends. */
  readonly expiresAt: Millis
  /** It was not ended, and the person who allowed it may still allow it. */
  readonly isLive: boolean
}
