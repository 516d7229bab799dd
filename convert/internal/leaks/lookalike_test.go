package leaks

import (
	"fmt"
	"strings"
	"testing"
)

// lookAlikes is text of the shapes in which our own rules find credentials, with what stands
// there in documents, code and examples.
func (p planter) lookAlikes() []string {
	id, port := p.some(8, lower+digits), 1024+p.IntN(60000)
	fill := []string{
		"password", "PASSWORD", "pass", "secret", "changeme", "my-password", "your_password_1", "your-api-key-42", "example123", "user1234", "Passw0rd-placeholder", "hunter",
		"<token>", "<your-token-1>", "${VAR_1}", "$TOKEN", "$DB_PASS_2", "{{ .Values.db.password1 }}", "{password1}", "%s", "%(password)s", "%PASS1%", "***", "********", "xxxxxxxx", "XXXXXXXX1",
		"[PASSWORD1]", "[REDACTED]", "...", "$(cat /run/secrets/db1)", "`cat pw1`", "$(op read op://vault/db1)", "process.env.TOKEN1", "os.environ['PW1']", "@PASSWORD@", ":password", "#{pw1}",
		"getToken(user1)", "encodeURIComponent(pw1)", "deadbeef1", "12345678", "0123456789abcdef",
	}
	v := fill[p.IntN(len(fill))]
	return []string{
		"postgres://user:" + v + "@localhost:5432/app", "redis://:" + v + "@cache", "https://" + v + "@host.invalid/x", `dsn := "mysql://" + user + ":" + pass + "@" + host`,
		"mongodb+srv://<username>:" + v + "@cluster0." + id + ".mongodb.net/?retryWrites=true", "postgres://postgres:postgres@db", "amqp://guest:guest@localhost", "ftp://anonymous:anonymous@host.invalid",
		fmt.Sprintf("http://localhost:%d/@fs/home/%s/app", port, id), fmt.Sprintf("http://127.0.0.1:%d/?user=ann@host.invalid", port), "git clone ssh://git@host.invalid:" + fmt.Sprint(port) + "/" + id + "/app.git",
		"git@host.invalid:ann/" + id + ".git", "https://packages.invalid/@types/" + id, "https://cdn.invalid/react@18.2.0/" + id + ".js", "https://medium.com/@ann/" + id + "-1f2e3d4c5b6a", "see https://host.invalid:443 and ann" + id + "@host.invalid",
		"file:///home/ann/" + id + ":12:34", "user@host", "ann" + id + "@host.invalid:/srv", fmt.Sprintf("time=12:%02d://x", port%60), "jdbc:mysql://localhost:3306/db?user=root&password=" + v,
		"Authorization: Bearer " + v, "Authorization: Basic " + v, `{"Authorization": "Bearer ` + v + `"}`, "headers['Authorization'] = `Bearer ${" + id + "}`", `req.Header.Set("Authorization", "Bearer "+token)`, "Authorization: Bearer token", "Bearer token",
		"authorization: Basic dXNlcjpwYXNzd29yZA==", "Access-Control-Allow-Headers: Authorization, Content-Type, X-" + id, "authorization server metadata (RFC 8414) bearer tokens are opaque", "class TokenAuthentication(BaseAuthentication): # Authorization: Token authentication",
		"Cookie: " + v, "Cookie: session=" + v, "Set-Cookie: theme=dark; Path=/; Max-Age=31536000; SameSite=Lax", `document.cookie = "name=value"`, "cookie: consent=true; lang=en-US", "the cookie named session=1 is set", "const cookies = req.cookies[sessionId]",
		"Cookie: _ga=GA1.2.1234567890.1700000000", "cookie jar=" + v, "app.use(cookieParser(secret))", `cookies = {"a": ` + id + `}`,
		"machine host.invalid login ann password " + v, "the machine learning login page has a password field", "default login name password policy", "machine " + id + " login ann",
		"mysql -u root -p", "mysql -p", "mysql -u root -p " + id, "mysql -h db -P 3306 -p" + fmt.Sprint(port), fmt.Sprintf("docker run --name mysql -p %d:3306 mysql:8", port), fmt.Sprintf("docker run --name mysql -p%d:3306 mysql:8.4.2", port),
		"mysql --protocol=tcp --print-defaults -u root -p app", "mysqldump -p app | ssh -p 2222 ann@host1", "mysql -u root -p" + v, "mysql --password=" + v, "mkdir -p /var/lib/mysql/data1", "cd mysql && mkdir -p build/x86_64-2", "mysql_install_db -path=/usr/lib/x86_64",
		"sshpass -p " + v + " ssh host", "sshpass -e ssh ann@host1", "ssh -p 2222 ann@host1", "redis-cli -p 6379 ping", "redis-cli -a " + v, "mongosh --port 27017 -p", "docker login -u ann -p " + v, "docker login --password-stdin", "nc -p 12345 host", "cp -pR a1 b2", "tar -xpzf a1.tgz",
	}
}

// TestLookAlikes: what documents and code have in the places of credentials is none, alone and
// as JSON.
func TestLookAlikes(t *testing.T) {
	s, p, size := scanner(t), newPlanter(), 0
	told, own := map[string]bool{}, map[string]bool{}
	set, err := readRules(ownRules)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range set.Rules {
		own[r.ID] = true
	}
	for size < 3<<20 {
		var b strings.Builder
		for _, text := range p.lookAlikes() {
			b.WriteString(text + "\n")
		}
		text := quoted(b.String(), p.IntN(3))
		size += len(text)
		for _, h := range hits(s, text) {
			if !own[h.Rule] {
				continue
			}
			if at := text[max(0, h.Offset-60):min(int64(len(text)), h.Offset+h.Length+5)]; !told[at[len(at)/2:]] && len(told) < 40 {
				told[at[len(at)/2:]] = true
				t.Errorf("%s: %q", h.Rule, at)
			}
		}
	}
}
