// Metadata documents of clients that many people have, as they are published: what is used while their publisher cannot be reached. A
// document that was fetched counts before these.

interface KnownDocument {
  readonly client_id: string
  readonly client_name: string
  readonly redirect_uris: readonly string[]
}

const document = (client_id: string, client_name: string, ...redirect_uris: string[]): KnownDocument => ({
  client_id,
  client_name,
  redirect_uris,
})

const DOCUMENTS = [
  document(
    'https://claude.ai/oauth/mcp-oauth-client-metadata',
    'Claude',
    'https://claude.ai/api/mcp/auth_callback',
    'https://claude.com/api/mcp/auth_callback',
  ),
  document(
    'https://claude.ai/oauth/claude-code-client-metadata',
    'Claude Code',
    'http://localhost/callback',
    'http://127.0.0.1/callback',
  ),
  document(
    'https://chatgpt.com/oauth/client.json',
    'ChatGPT',
    'https://chatgpt.com/connector_platform_oauth_redirect',
  ),
  document('https://chatgpt.com/oauth/codex/client.json', 'Codex', 'http://127.0.0.1/callback'),
  document(
    'https://vscode.dev/oauth/client-metadata.json',
    'Visual Studio Code',
    'http://127.0.0.1:33418/',
    'http://localhost:33418/',
    'https://vscode.dev/redirect',
  ),
  document(
    'https://github.com/copilot/cli/client-metadata.json',
    'GitHub Copilot CLI',
    'http://127.0.0.1:33418/',
    'http://localhost:33418/',
  ),
]

/** The document that the gateway was shipped with; undefined for every other client. */
export function knownDocument(clientId: string): Readonly<Record<string, unknown>> | undefined {
  const found = DOCUMENTS.find(({ client_id }) => client_id === clientId)
  return (
    found && {
      ...found,
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
  )
}
