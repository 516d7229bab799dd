package leaks

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// What is planted is put together when the test runs, so that no scanner of
// repositories finds it here, and is random, so that it opens nothing.

const (
	digits = "0123456789"
	hexes  = digits + "abcdef"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	alnum  = digits + lower + upper
)

type planter struct{ *rand.Rand }

func newPlanter() planter { return planter{rand.New(rand.NewPCG(8, 8))} }

// some is n characters of an alphabet.
func (p planter) some(n int, of string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = of[p.IntN(len(of))]
	}
	return string(b)
}

func word(parts ...string) string { return strings.Join(parts, "") }

// plant is a credential, and what must stand around it to be known as one.
type plant struct {
	rule          string
	before, after string
	secret        string
}

func (p planter) plants() []plant {
	return []plant{
		{rule: "aws-access-token", secret: word("AK", "IA", p.some(16, upper+"234567"))},
		{rule: "github-pat", secret: word("gh", "p_", p.some(36, alnum))},
		{rule: "github-fine-grained-pat", secret: word("github", "_pat_", p.some(82, alnum))},
		{rule: "github-app-token", secret: word("gh", "s_", p.some(36, alnum))},
		{rule: "gitlab-pat", secret: word("gl", "pat-", p.some(20, alnum))},
		{rule: "slack-bot-token", secret: word("xo", "xb-", p.some(11, digits), "-", p.some(12, digits), "-", p.some(24, alnum))},
		{rule: "slack-webhook-url", secret: word("https://hooks.", "slack.com", "/services/", "T", p.some(8, upper), "/B", p.some(8, upper), "/", p.some(24, alnum))},
		{rule: "microsoft-teams-webhook", secret: word("https://", p.some(9, lower), ".webhook.", "office.com/webhookb2/", p.uuid(), "@", p.uuid(), "/Incoming", "Webhook/", p.some(32, hexes), "/", p.uuid())},
		{rule: "stripe-access-token", secret: word("sk", "_li", "ve_", p.some(24, alnum))},
		{rule: "anthropic-api-key", secret: word("sk-", "ant-", "api03-", p.some(93, alnum+"_-"), "AA")},
		{rule: "openai-api-key", secret: word("sk-", p.some(20, alnum), "T3Blbk", "FJ", p.some(20, alnum))},
		{rule: "gcp-api-key", secret: word("AI", "za", p.some(35, alnum))},
		{rule: "npm-access-token", secret: word("np", "m_", p.some(36, alnum))},
		{rule: "huggingface-access-token", secret: word("h", "f_", p.some(34, lower))},
		{rule: "sendgrid-api-token", secret: word("S", "G.", p.some(22, alnum), ".", p.some(43, alnum))},
		{rule: "twilio-api-key", secret: word("S", "K", p.some(32, hexes))},
		{rule: "pypi-upload-token", secret: word("py", "pi-", "AgEIcHlwaS5vcmc", p.some(90, alnum))},
		{rule: "digitalocean-pat", secret: word("do", "p_v1_", p.some(64, hexes))},
		{rule: "databricks-api-token", secret: word("da", "pi", p.some(32, hexes))},
		{rule: "vault-service-token", secret: word("hv", "s.", p.some(95, alnum))},
		{rule: "shopify-access-token", secret: word("shp", "at_", p.some(32, hexes))},
		{rule: "age-secret-key", secret: word("AGE-", "SECRET-", "KEY-1", p.some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"))},
		{rule: "jwt", secret: word("ey", "J", p.some(40, alnum), ".ey", "J", p.some(60, alnum), ".", p.some(43, alnum))},
		{rule: "private-key", secret: p.pem(24)},
		{rule: "azure-ad-client-secret", secret: word(p.some(3, lower), "8", "Q~", p.some(34, alnum))},
		{rule: "maxmind-license-key", secret: word(p.some(6, alnum), "_", p.some(29, alnum), "_m", "mk")},
		{rule: "cloudflare-api-key", before: "cloudflare_key = ", secret: p.some(40, lower+digits)},
		{rule: "new-relic-insert-key", before: "new_relic_insert: ", secret: word("NR", "II-", p.some(32, lower+digits))},
		{rule: "curl-auth-user", before: "curl -u ", secret: word("deployer:", p.some(20, alnum)), after: " https://host.invalid/path"},
		{rule: "generic-api-key", before: "session_secret=", secret: p.some(30, lower+digits)},
		{rule: "url-credentials", before: "postgres://app:", secret: p.password(12), after: "@db.invalid/prod"},
		{rule: "url-credentials", before: "redis://:", secret: p.password(9), after: "@cache:6379/0"},
		{rule: "url-credentials", before: "git clone https://ann:", secret: p.password(18), after: "@host.invalid/x.git"},
		{rule: "authorization-header", before: "Authorization: Bearer ", secret: p.password(24)},
		{rule: "authorization-header", before: `headers = {"Authorization": "Bearer `, secret: p.password(40), after: `"}`},
		{rule: "authorization-header", before: "> authorization: Basic ", secret: p.password(24) + "="},
		{rule: "authorization-header", before: "Proxy-Authorization: Token ", secret: p.password(20)},
		{rule: "cookie-header", before: "Cookie: theme=dark; session=", secret: p.password(26), after: "; lang=en"},
		{rule: "cookie-header", before: "< Set-Cookie: sid=", secret: p.password(32), after: "; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly"},
		{rule: "netrc-password", before: "machine host.invalid login ann password ", secret: p.password(12)},
		{rule: "netrc-password", before: "machine host.invalid\n  login ann\n  password ", secret: p.password(10)},
		{rule: "command-line-password", before: "mysql -u root -p", secret: p.password(10), after: " prod -e 'select 1'"},
		{rule: "command-line-password", before: "mysqldump --password=", secret: p.password(10), after: " prod"},
		{rule: "command-line-password", before: "sshpass -p ", secret: p.password(9), after: " ssh ann@host.invalid"},
		{rule: "command-line-password", before: "redis-cli -h cache -a ", secret: p.password(14), after: " ping"},
	}
}

// password is n characters, letters of both cases and digits.
func (p planter) password(n int) string {
	return word(p.some(1, lower), p.some(1, upper), p.some(1, digits), p.some(n-3, alnum))
}

func (p planter) uuid() string {
	return word(p.some(8, hexes), "-", p.some(4, hexes), "-4", p.some(3, hexes), "-a", p.some(3, hexes), "-", p.some(12, hexes))
}

// pem is a private key of so many lines.
func (p planter) pem(lines int) string {
	var b strings.Builder
	b.WriteString(word("-----BEGIN RSA ", "PRIVATE ", "KEY-----\n"))
	for range lines {
		b.WriteString(p.some(64, alnum+"+/") + "\n")
	}
	b.WriteString(word("-----END RSA ", "PRIVATE ", "KEY-----"))
	return b.String()
}

// quoted is text as JSON writes it inside a string, so many times over.
func quoted(text string, depth int) string {
	for range depth {
		b, err := json.Marshal(text)
		if err != nil {
			panic(err) // a string always can be
		}
		text = string(b[1 : len(b)-1])
	}
	return text
}

const filler = "The build went through, and the tests of the parser are green again. Shall I go on with the second part? "

// prose is what surrounds a credential: so many bytes of words.
func prose(n int) string { return strings.Repeat(filler, n/len(filler)+1)[:n] }
