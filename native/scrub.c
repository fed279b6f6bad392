/* Removes keys and loader variables from the daemon's environment and arguments, which other processes can read. */
#include "scrub.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The address of a Jupyter server contains its key. */
static const char *const secret_options[] = {"--api-key", "--jupyter-endpoint"};

/* The headers of a trace collector also contain keys. */
static const char *const secret_names[] = {
    "SVC_JUPYTER_ENDPOINT",
    "SVC_API_KEY",
    "SANDBOX_API_KEY",
    "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_LOGS_HEADERS",
};

/* A name that ends in an underscore matches every variable with this prefix. */
static const char *const loader_names[] = {
    "LD_",           "BUN_",          "NODE_",           "DYLD_",         "JSC_",         "MALLOC_",
    "GLIBC_TUNABLES", "OPENSSL_CONF", "OPENSSL_MODULES", "SSL_CERT_FILE", "SSL_CERT_DIR",
};

/* They name a file with a key. The path is no secret. */
static const char *const key_file_names[] = {"SVC_API_KEY_FILE", "SANDBOX_API_KEY_FILE"};
static const char *const key_file_option = "--api-key-file";

static const char *const certificate_names[] = {"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"};

static bool is_named(const char *variable, const char *name) {
    size_t length = strlen(name);
    if (strncmp(variable, name, length) != 0) return false;
    return name[length - 1] == '_' || variable[length] == '=' || variable[length] == '\0';
}

static bool is_named_in(const char *variable, const char *const *names, size_t count) {
    for (size_t index = 0; index < count; index++)
        if (is_named(variable, names[index])) return true;
    return false;
}

static bool is_secret(const char *variable) {
    return is_named_in(variable, secret_names, sizeof secret_names / sizeof secret_names[0]);
}

static bool is_loader_variable(const char *variable) {
    return is_named_in(variable, loader_names, sizeof loader_names / sizeof loader_names[0]);
}

void scrub_environment(struct surroundings *surroundings, char *const *environment) {
    for (; *environment != NULL; environment++) {
        if (is_secret(*environment)) add_string(&surroundings->secrets, *environment);
        else if (is_loader_variable(*environment)) add_string(&surroundings->scrubbed, *environment);
        else add_string(&surroundings->environment, *environment);
    }
}

void keep_certificates(struct surroundings *surroundings) {
    for (char **variable = surroundings->scrubbed.items; variable != NULL && *variable != NULL; variable++)
        if (is_named_in(*variable, certificate_names, sizeof certificate_names / sizeof certificate_names[0]))
            add_string(&surroundings->environment, *variable);
}

/* Records "--api-key KEY" as "--api-key=KEY". */
void add_key(struct string_list *secrets, const char *name, const char *key) {
    size_t size = strlen(name) + 1 + strlen(key) + 1;
    char *option = malloc(size);
    if (option == NULL) return;
    snprintf(option, size, "%s=%s", name, key);
    add_string(secrets, option);
    explicit_bzero(option, size);
    free(option);
}

/* The secret option that an argument begins with, or NULL. */
static const char *find_secret_option(const char *argument) {
    for (size_t index = 0; index < sizeof secret_options / sizeof secret_options[0]; index++) {
        size_t length = strlen(secret_options[index]);
        if (strncmp(argument, secret_options[index], length) != 0) continue;
        if (argument[length] == '\0' || argument[length] == '=') return secret_options[index];
    }
    return NULL;
}

/* An option without its key stays, so that the daemon can report the missing value. */
void scrub_arguments(struct surroundings *surroundings, char *const *arguments) {
    for (; *arguments != NULL; arguments++) {
        const char *option = find_secret_option(*arguments);
        bool is_split = option != NULL && strcmp(*arguments, option) == 0;
        if (is_split && arguments[1] != NULL) add_key(&surroundings->secrets, option, *++arguments);
        else if (option != NULL && !is_split) add_string(&surroundings->secrets, *arguments);
        else add_string(&surroundings->arguments, *arguments);
    }
}

/* The daemon treats an empty variable as unset. */
static bool has_value(const char *variable) {
    const char *value = strchr(variable, '=');
    return value != NULL && value[1] != '\0';
}

bool names_key_file(const struct surroundings *surroundings) {
    const struct string_list *variables = &surroundings->environment, *arguments = &surroundings->arguments;
    for (size_t index = 0; index < variables->count; index++) {
        const char *variable = variables->items[index];
        size_t names = sizeof key_file_names / sizeof key_file_names[0];
        if (is_named_in(variable, key_file_names, names) && has_value(variable)) return true;
    }
    for (size_t index = 0; index < arguments->count; index++)
        if (is_named(arguments->items[index], key_file_option)) return true;
    return false;
}
