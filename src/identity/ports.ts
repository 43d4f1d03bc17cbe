// Sign-in as tools, the console and the OAuth door see it. Types only.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ConnectionRecord } from '../../schemas/connection.ts'
import type { BudgetWish } from '../../schemas/budget.ts'
import type { Scope } from '../../schemas/http.ts'
import type { IdentityProviderRecord, IdentityProviderSettings } from '../../schemas/identity-provider.ts'
import type { Role } from '../../schemas/role.ts'
import type { Secret } from '../lib/secret.ts'
import type { Page, PageRequest } from '../store/model.ts'
import type {
  Connection,
  Invitation,
  MemberRow,
  OwnMembership,
  Passkey,
  Session,
  SignedIn,
  SignInMethod,
} from '../store/ports.ts'

/** Where a sign-in came from, as it is written down beside the session. */
export interface From {
  readonly address: string
  readonly userAgent: string
}

export interface Sessions {
  /** Who holds this token; undefined where nobody does any more. */
  find(token: string): Promise<SignedIn | undefined>
  open(input: {
    personId: string
    accountId: string
    method: SignInMethod
    from: From
  }): Promise<{ session: Session; token: Secret<string> }>
  /** The person has just shown again that it is them. */
  freshen(sessionId: string): Promise<void>
  /** Live ones, newest first; of one person where it is named. */
  list(accountId: string, personId: string | undefined, page: PageRequest): Promise<Page<Session>>
  /** Idempotent. @throws {GatewayError} session_not_found */
  end(input: {
    accountId?: string | undefined
    sessionId: string
    personId?: string | undefined
  }): Promise<Session>
  /** All of a person, whichever account they show. */
  ofPerson(personId: string): Promise<readonly Session[]>
  /** Every one of the person but this. @returns how many ended */
  endOthers(input: { personId: string; accountId: string; sessionId: string }): Promise<number>
  /** It shows another account of the person from now on. @throws {GatewayError} account_not_found */
  switchTo(input: { sessionId: string; personId: string; accountId: string }): Promise<void>
}

export type Member = MemberRow

/** Somebody has signed in. */
export interface Opened {
  readonly signedIn: SignedIn
  /** The value of the session's cookie. */
  readonly token: Secret<string>
}

/** Options that a browser hands to its authenticator, as JSON. */
export type PasskeyOptions = Readonly<Record<string, unknown>>

/** What an invitation says of itself, to whoever holds its link. */
export interface InvitationFacts {
  readonly name: string
  readonly role: Role
  readonly account: string
  /** A member who gets a new passkey. */
  readonly isForMember: boolean
}

/**
 * Signing in with what somebody has. Each answer is to a challenge that was made here in the last five minutes and is used up by it,
 * whatever comes of it.
 */
export interface SignIn {
  askPasskey(): Promise<PasskeyOptions>
  /** @throws {GatewayError} sign_in_failed */
  withPasskey(input: { answer: string; from: From }): Promise<Opened>
  /** @throws {GatewayError} sign_in_failed, rate_limited */
  withRecoveryCode(input: { code: string; from: From }): Promise<Opened>

  /** The person is asked to show again that it is them. */
  askAgain(signedIn: SignedIn): Promise<PasskeyOptions>
  /** @throws {GatewayError} sign_in_failed */
  showAgain(input: { signedIn: SignedIn; answer: string; from: From }): Promise<void>
  /** The same with a recovery code, which is spent. @throws {GatewayError} sign_in_failed, rate_limited */
  showAgainWithCode(input: { signedIn: SignedIn; code: string; from: From }): Promise<void>

  /** @throws {GatewayError} invitation_invalid */
  look(invitation: string): Promise<InvitationFacts>
  /** @throws {GatewayError} invitation_invalid */
  askJoin(
    invitation: string,
    name: string,
  ): Promise<{ readonly personId: string; readonly options: PasskeyOptions }>
  /** @returns recovery codes, which are shown once. @throws {GatewayError} invitation_invalid, sign_in_failed */
  join(input: {
    invitation: string
    personId: string
    name: string
    answer: string
    from: From
  }): Promise<Opened & { readonly codes: readonly string[] }>
  /** Somebody who is signed in joins one more account. @throws {GatewayError} invitation_invalid */
  joinAs(input: { invitation: string; signedIn: SignedIn; from: From }): Promise<void>

  passkeys(personId: string): Promise<readonly Passkey[]>
  askPasskeyToAdd(signedIn: SignedIn): Promise<PasskeyOptions>
  /** @throws {GatewayError} sign_in_failed; fresh_sign_in_required */
  addPasskey(input: { signedIn: SignedIn; answer: string; label: string; from: From }): Promise<void>
  /** @throws {GatewayError} fresh_sign_in_required, state_conflict for the last one */
  removePasskey(input: { signedIn: SignedIn; passkeyId: string; from: From }): Promise<void>
  recoveryCodesLeft(personId: string): Promise<number>
  /** New ones in place of the old. @throws {GatewayError} fresh_sign_in_required */
  newRecoveryCodes(input: { signedIn: SignedIn; from: From }): Promise<readonly string[]>
}

export interface People {
  list(accountId: string, page: PageRequest): Promise<Page<Member>>
  get(accountId: string, personId: string): Promise<Member | undefined>
  /** The accounts that somebody is a member of, the one they joined first at the top. */
  accountsOf(personId: string): Promise<readonly OwnMembership[]>
  /** @throws {GatewayError} person_not_found */
  rename(personId: string, name: string): Promise<void>
  /** Whether anybody has become a member of this installation yet. */
  hasAny(): Promise<boolean>
  /** The link for an owner of the installation's first account; undefined where somebody has joined already. */
  inviteFirst(): Promise<{ invitationId: string; link: Secret<string>; expiresAt: number } | undefined>
  /** Those that wait, newest first. */
  invitations(accountId: string): Promise<readonly Invitation[]>
  /** Idempotent. @throws {GatewayError} person_not_found */
  withdraw(accountId: string, invitationId: string): Promise<Invitation>
  /**
   * A link that works once, for an hour, with which somebody becomes a member, or a member gets a new passkey.
   * @returns the address to open: its token stands behind `#`, which no server and no log sees
   * @throws {GatewayError} person_not_found; state_conflict for a member of other accounts too
   */
  invite(input: {
    accountId: string
    role: Role
    name: string
    /** An existing person who lost their passkey. */
    personId?: string | undefined
    invitedBy: string
  }): Promise<{ invitationId: string; link: Secret<string>; expiresAt: number }>
  /** @throws {GatewayError} person_not_found; state_conflict for the last owner */
  setRole(input: { accountId: string; personId: string; role: Role }): Promise<Member>
  /**
   * Ends their sessions and what they connected, and the service keys that they made unless `keepsKeys` says that somebody else has them.
   * @returns ids of the keys that ended
   * @throws {GatewayError} person_not_found; state_conflict for the last owner
   */
  remove(input: {
    accountId: string
    personId: string
    keepsKeys?: boolean | undefined
  }): Promise<{ revokedKeys: readonly string[] }>
}

/** Signing in through somebody's identity provider. There is at most one. */
export interface IdentityProvider {
  /** As the sign-in page offers it; undefined where it does not. */
  offer(): Promise<{ readonly name: string } | undefined>
  settings(): Promise<IdentityProviderRecord | null>
  /** Registered at the provider. */
  readonly redirectUri: string
  /**
   * @param clientSecret undefined: the one of this client stays; empty: it has none
   * @throws {GatewayError} upstream_unreachable where its metadata cannot be read
   */
  change(
    settings: IdentityProviderSettings,
    clientSecret: string | undefined,
  ): Promise<IdentityProviderRecord>
  /**
   * @param input.signedIn whoever shows again that it is them
   * @returns the address to send the browser to, and what that browser keeps until it comes back
   * @throws {GatewayError} sign_in_failed
   */
  start(input: {
    signedIn?: SignedIn | undefined
  }): Promise<{ readonly url: string; readonly browser: string }>
  /** @returns undefined where somebody has shown again that it is them. @throws {GatewayError} sign_in_failed */
  finish(input: {
    query: URLSearchParams
    browser: string
    signedIn?: SignedIn | undefined
    from: From
  }): Promise<Opened | undefined>
}

/** One credential of a connection, narrowed. */
export interface ConnectionPart {
  readonly credentialId: string
  /** What is left out is as the credential has it. */
  readonly scope: Partial<Scope>
}

/** All that a person decides on the consent page, and later in the console. */
export interface ConnectionChoice {
  readonly parts: readonly ConnectionPart[]
  /** On all of its credentials together. */
  readonly budgets: readonly BudgetWish[]
  /** Calls in all; null: no limit. */
  readonly maxUses: number | null
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
  readonly mayPay: boolean
  readonly mayOperate: boolean
  readonly showsBalance: boolean
}

/** A client as the consent page names it. */
export interface AskingClient {
  readonly id: string
  readonly name: string
  /** Host that it proved to be of; null: anybody may call themselves so. */
  readonly host: string | null
  readonly redirectHost: string
  /** It is sent back to a program on the person's own machine, which any program there may be. */
  readonly isLoopback: boolean
}

/** Who changes a connection: a person, or a program with a service key, which never signed in. */
export interface Changing {
  readonly accountId: string
  readonly role: Role
  readonly freshAt: number | undefined
}

export interface Connections {
  /**
   * Where the grant stands for a connection of the same person and client already, that one is changed (step-up).
   * @throws {GatewayError} credential_not_found, scope_denied, input_invalid, role_required, fresh_sign_in_required, state_conflict
   */
  open(input: {
    by: SignedIn
    client: AskingClient
    grantId: string
    choice: ConnectionChoice
  }): Promise<Connection>
  /** Replaces what it may do, from its next call on. @throws as `open`; connection_not_found */
  change(input: { by: Changing; connectionId: string; choice: ConnectionChoice }): Promise<Connection>
  list(
    filter: { accountId: string; personId?: string | undefined; clientId?: string | undefined },
    page: PageRequest,
  ): Promise<Page<Connection>>
  get(accountId: string, connectionId: string): Promise<Connection | undefined>
  /** As people read them: with credentials, limits and what was counted on them. */
  describe(connections: readonly Connection[]): Promise<ConnectionRecord[]>
  /** Ends it and every token and capability of it. Idempotent. @throws {GatewayError} connection_not_found */
  revoke(accountId: string, connectionId: string): Promise<Connection>
  /** Everything that this client was allowed for the account. */
  revokeClient(accountId: string, clientId: string): Promise<number>
  /** Writes down an access token that the authorization server issued. */
  addToken(input: { connectionId: string; tokenHash: Buffer; expiresAt: number }): Promise<void>
  dropToken(tokenHash: Buffer): Promise<void>
  /** An assistant acts on it: remembered to the minute, and nothing waits for it. */
  used(connectionId: string): void
}

/** What an assistant asks a person for. */
export interface AskedConsent {
  readonly uid: string
  readonly client: AskingClient
  readonly scopes: readonly string[]
  /** It shows a code that the person compares, since its screen is another one. */
  readonly userCode?: string
  /** What this person allowed this client before: the page starts from it. */
  readonly before?: Connection
}

/** The person's side of an authorization request that waits for an answer. */
export interface Interactions {
  /**
   * Finds the request of a program that shows a code because it has no browser of its own.
   * @param asked.typed the code as a person typed it
   * @returns the uid of the page that asks them, good in this browser alone
   * @throws {GatewayError} not_found; rate_limited for who types too many
   */
  begin(
    req: IncomingMessage,
    res: ServerResponse,
    asked: { readonly by: SignedIn; readonly typed: string },
  ): Promise<string>
  /** Undefined where it is over, or belongs to another browser. @param by whose earlier connection is looked for */
  read(req: IncomingMessage, res: ServerResponse, by?: SignedIn): Promise<AskedConsent | undefined>
  /**
   * @returns address on this gateway that sends the browser on to the client
   * @throws {GatewayError} state_conflict where it was answered already; as `Connections.open`
   */
  grant(
    req: IncomingMessage,
    res: ServerResponse,
    answer: {
      by: SignedIn
      choice: ConnectionChoice
      /** An earlier connection of this person with this client, which ends as the new one begins. */
      replaces?: string | undefined
    },
  ): Promise<string>
  /** @throws {GatewayError} state_conflict */
  refuse(req: IncomingMessage, res: ServerResponse): Promise<string>
}

/** The authorization server (OAuth 2.1, OpenID Connect) behind its door. */
export interface AuthorizationServer {
  /**
   * Answers a request whose head the door has pinned to the address of the gateway.
   * @param visit what the door knows of who asks
   */
  handle(
    req: IncomingMessage,
    res: ServerResponse,
    visit: {
      readonly language: 'en' | 'ar'
      /** Whether this network may have one more document fetched. */
      readonly mayFetch: () => Promise<boolean>
      /** Answers a person, whose client cannot be told. */
      readonly refuse: (status: number, error: string, description: string | undefined) => Promise<void>
    },
  ): Promise<void>
}
