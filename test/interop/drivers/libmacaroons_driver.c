/* Answers the requests of the protocol in README.md with libmacaroons, in v1 binary. Only the end
   of the process frees memory. */
#include <macaroons.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST 512

struct blob {
    unsigned char* data;
    size_t size;
};

static const char* failure;

/* Returns the text after `"name":`, or NULL. Objects are not nested, and strings have no escapes. */
static const char* field(const char* line, const char* name)
{
    char pattern[64];
    snprintf(pattern, sizeof(pattern), "\"%s\":", name);
    const char* at = strstr(line, pattern);
    return at ? at + strlen(pattern) : NULL;
}

/* Returns a copy of the string at `at`, which must be a quote. */
static char* string_at(const char* at)
{
    const char* end = strchr(at + 1, '"');
    return strndup(at + 1, end ? (size_t)(end - at - 1) : 0);
}

static char* string_field(const char* line, const char* name)
{
    const char* at = field(line, name);
    return at && *at == '"' ? string_at(at) : strdup("");
}

/* Reads the strings of an array. Returns their number, or -1 if there is no such field. */
static int list_field(const char* line, const char* name, char** items)
{
    const char* at = field(line, name);
    if (!at || *at != '[') return -1;
    int count = 0;
    for (at++; *at && *at != ']' && count < MAX_LIST; at++) {
        if (*at != '"') continue;
        items[count] = string_at(at);
        at += strlen(items[count]) + 1;
        count++;
    }
    return count;
}

static int digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '-' ? 62 : 63;
}

static struct blob decode(const char* text)
{
    struct blob out = {malloc(strlen(text) + 1), 0};
    unsigned buffer = 0;
    int bits = 0;
    for (; *text; text++) {
        buffer = (buffer << 6) | (unsigned)digit(*text);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out.data[out.size++] = (buffer >> bits) & 0xff;
        }
    }
    return out;
}

static struct blob bytes_field(const char* line, const char* name)
{
    return decode(string_field(line, name));
}

static struct macaroon* read_text(const char* text)
{
    enum macaroon_returncode err;
    struct macaroon* m = macaroon_deserialize(text, &err);
    if (!m) failure = "deserialize";
    return m;
}

static void print_macaroon(const struct macaroon* m)
{
    enum macaroon_returncode err;
    if (!m) {
        printf("{\"ok\":false,\"error\":\"%s\"}\n", failure ? failure : "refused");
        return;
    }
    size_t size = macaroon_serialize_size_hint(m);
    char* text = calloc(1, size + 1);
    if (macaroon_serialize(m, text, size, &err) < 0) printf("{\"ok\":false,\"error\":\"serialize\"}\n");
    else printf("{\"ok\":true,\"text\":\"%s\"}\n", text);
}

struct known {
    int count;
    struct blob items[MAX_LIST];
};

static int is_known(void* context, const unsigned char* caveat, size_t size)
{
    const struct known* known = context;
    if (known->count < 0) return 0;
    for (int i = 0; i < known->count; i++) {
        if (known->items[i].size == size && memcmp(known->items[i].data, caveat, size) == 0) return 0;
    }
    return -1;
}

static void verify(const char* line, const struct macaroon* root)
{
    enum macaroon_returncode err;
    struct known known;
    char* items[MAX_LIST];
    struct macaroon* discharges[MAX_LIST];
    known.count = list_field(line, "satisfied", items);
    for (int i = 0; i < known.count; i++) known.items[i] = decode(items[i]);
    int count = list_field(line, "discharges", items);
    for (int i = 0; i < count; i++) {
        discharges[i] = read_text(items[i]);
        if (!discharges[i]) {
            print_macaroon(NULL);
            return;
        }
    }
    struct blob key = bytes_field(line, "key");
    struct macaroon_verifier* verifier = macaroon_verifier_create();
    macaroon_verifier_satisfy_general(verifier, is_known, &known, &err);
    int code = macaroon_verify(verifier, root, key.data, key.size, discharges, count < 0 ? 0 : count, &err);
    printf("{\"ok\":true,\"valid\":%s}\n", code == 0 ? "true" : "false");
}

static void perform(const char* line)
{
    enum macaroon_returncode err;
    char* op = string_field(line, "op");
    struct blob key = bytes_field(line, "key");
    struct blob id = bytes_field(line, "identifier");
    struct blob location = bytes_field(line, "location");
    failure = NULL;
    if (strcmp(op, "create") == 0) {
        print_macaroon(
            macaroon_create(location.data, location.size, key.data, key.size, id.data, id.size, &err));
        return;
    }
    struct macaroon* m = read_text(string_field(line, "macaroon"));
    if (!m) {
        print_macaroon(NULL);
    } else if (strcmp(op, "append") == 0) {
        struct blob caveat = bytes_field(line, "caveat");
        print_macaroon(macaroon_add_first_party_caveat(m, caveat.data, caveat.size, &err));
    } else if (strcmp(op, "thirdParty") == 0) {
        print_macaroon(macaroon_add_third_party_caveat(
            m, location.data, location.size, key.data, key.size, id.data, id.size, &err));
    } else if (strcmp(op, "bind") == 0) {
        struct macaroon* discharge = read_text(string_field(line, "discharge"));
        print_macaroon(discharge ? macaroon_prepare_for_request(m, discharge, &err) : NULL);
    } else if (strcmp(op, "convert") == 0) {
        print_macaroon(m);
    } else if (strcmp(op, "verify") == 0) {
        verify(line, m);
    } else {
        failure = "unknown op";
        print_macaroon(NULL);
    }
}

int main(void)
{
    char* line = NULL;
    size_t capacity = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    while (getline(&line, &capacity, stdin) > 0) perform(line);
    return 0;
}
