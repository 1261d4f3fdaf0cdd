// The CUDA driver as a static library. Every driver function is a jump through a slot, and cuInit fills the slots from libcuda.so.1 if it is
// installed. The program therefore links without a CUDA toolkit and starts without a driver.
//
// Before cuInit, functions return CUDA_ERROR_NOT_INITIALIZED, like the real driver. Without a driver they return CUDA_ERROR_NO_DEVICE. If the driver
// is too old to have a function, it returns CUDA_ERROR_NOT_FOUND.
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>

enum { SUCCESS = 0, NOT_INITIALIZED = 3, NO_DEVICE = 100, NOT_FOUND = 500, UNKNOWN = 999 };

typedef int (*InitFunction)(unsigned);
typedef int (*TextFunction)(int, const char**);

static int not_initialized(void) { return NOT_INITIALIZED; }
static int no_driver(void) { return NO_DEVICE; }
static int not_found(void) { return NOT_FOUND; }

// Callers treat an error without a text as fatal, so a text is always returned.
static int no_text(int code, const char** text) {
    (void)code;
    *text = "the CUDA driver is not loaded";
    return SUCCESS;
}

// Jumps preserve all argument registers and the stack, so no signatures are needed. Hidden symbols do not take part in the dynamic linking of the
// real driver.
#if defined(__x86_64__)
#define JUMP(slot) "endbr64\njmp *" slot "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(slot) "hint #34\nadrp x16, " slot "\nldr x16, [x16, #:lo12:" slot "]\nbr x16\n"
#else
#error "build.rs compiles this file for x86-64 and aarch64 only"
#endif

#define SLOT(name, initial)                                                                                            \
    __attribute__((visibility("hidden"), used)) void* throng_slot_##name = (void*)initial;                             \
    __asm__(".text\n.balign 16\n.globl " #name "\n.hidden " #name "\n.type " #name ", %function\n" #name ":\n"          \
            JUMP("throng_slot_" #name) ".size " #name ", . - " #name "\n");

#define DRIVER(name) SLOT(name, not_initialized)
#include "driver.def"
#undef DRIVER
SLOT(cuGetErrorName, no_text)
SLOT(cuGetErrorString, no_text)

static const struct {
    const char* name;
    void** slot;
} kSlots[] = {
#define DRIVER(name) {#name, &throng_slot_##name},
#include "driver.def"
#undef DRIVER
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static InitFunction driver_init;
static char problem[512];

static void load(void) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver) driver_init = (InitFunction)dlsym(driver, "cuInit");
    if (!driver_init) {
        const char* reason = dlerror();
        snprintf(problem, sizeof problem, "%s", reason ? reason : "libcuda.so.1 cannot be loaded");
    }
    for (size_t i = 0; i < sizeof kSlots / sizeof kSlots[0]; i++) {
        void* function = driver_init ? dlsym(driver, kSlots[i].name) : (void*)no_driver;
        *kSlots[i].slot = function ? function : (void*)not_found;
    }
    if (!driver_init) return;
    void* name = dlsym(driver, "cuGetErrorName");
    void* string = dlsym(driver, "cuGetErrorString");
    if (name) throng_slot_cuGetErrorName = name;
    if (string) throng_slot_cuGetErrorString = string;
}

// Bindings only define the error codes of their own version, and other codes must not reach their enum. Therefore every failure except "no device"
// becomes "unknown", and throng_driver_problem returns the driver's own message.
__attribute__((visibility("hidden"))) int cuInit(unsigned flags) {
    pthread_once(&once, load);
    if (!driver_init) return NO_DEVICE;
    int code = driver_init(flags);
    if (code == SUCCESS || code == NO_DEVICE) return code;
    const char* text = NULL;
    ((TextFunction)throng_slot_cuGetErrorString)(code, &text);
    snprintf(problem, sizeof problem, "%s (cuInit returned %d)", text ? text : "unknown error", code);
    return UNKNOWN;
}

// The reason for which the driver could not be loaded or started; empty if it could. Must be called after cuInit, by the same thread.
__attribute__((visibility("hidden"))) const char* throng_driver_problem(void) { return problem; }
